// When a client comes and goes, and what it repeats meanwhile.

#include <algorithm>

#include "actors/client/dialogue.hpp"
#include "core/random.hpp"

namespace troupe::actors {

namespace {

/// For so long at least it may be on its way, over the slowest connection that
/// makes sense for its size: what is still under way is not to be said again
/// as soon as it is there.
instant time_to_cross(const messages::offer_made& x) {
  constexpr std::size_t bytes_per_second = std::size_t{16} << 20;
  std::size_t bytes = 0;
  for (const auto& block : x.blocks)
    bytes += block.delta ? block.delta->size() * sizeof(float) : 0;
  return std::chrono::seconds{bytes / bytes_per_second};
}

} // namespace

dialogue::actions dialogue::start(instant now) {
  ++nonce_;
  session_ = {};
  connected_ = false;
  return say_hello(now);
}

// Again until it is answered. The answer to one of the copies is to all: over a
// slow way it comes when the next one has been said.
dialogue::actions dialogue::say_hello(instant now) {
  spoke_ = now;
  const auto ours = messages::protocol_of(options_.blocks->rounds());
  return {keep{}, messages::hello{.protocol_min = ours,
                                  .protocol_max = ours,
                                  .client = options_.me,
                                  .incarnation = file_.incarnation,
                                  .layout = options_.blocks->fingerprint(),
                                  .nonce = nonce_,
                                  .examples = options_.examples,
                                  .last = file_.last,
                                  .open = open_tickets(),
                                  .run = options_.run}};
}

std::vector<messages::ticket> dialogue::open_tickets() const {
  if (!file_.open)
    return {};
  return {file_.open->pass};
}

dialogue::actions dialogue::go() {
  actions out;
  if (where_ == place::away)
    return out;
  where_ = place::away;
  connected_ = false;
  held_.reset();
  drop_visit();
  out.emplace_back(keep{});
  out.emplace_back(messages::leave{options_.me});
  return out;
}

dialogue::actions dialogue::drain() {
  actions out;
  if (where_ == place::here)
    where_ = place::draining;
  leave_if_drained(out);
  return out;
}

dialogue::actions dialogue::come(instant now) {
  if (where_ == place::away) {
    where_ = place::here;
    return start(now);
  }
  where_ = place::here;
  return {};
}

dialogue::actions dialogue::give_up(visit_id x) {
  actions out;
  if (!file_.open || file_.open->pass.visit != x)
    return out;
  const auto pass = file_.open->pass;
  drop_visit();
  end_without_offer(pass, messages::decline_reason::dropped, out);
  leave_if_drained(out);
  return out;
}

void dialogue::leave_if_drained(actions& out) {
  if (where_ != place::draining || file_.open || held_ || !file_.outbox.empty())
    return;
  for (auto& x : go())
    out.push_back(std::move(x));
}

// What was fetched may be the last to hold an old version.
void dialogue::drop_visit() {
  file_.open.reset();
  missing_.clear();
  here_.clear();
  fetched_.clear();
  working_ = false;
}

void dialogue::on(const messages::offer_held& x, actions& out, instant) {
  for (auto& kept : file_.outbox)
    if (kept.offer.pass.visit == x.visit && kept.unanswered.contains(x.line)) {
      kept.held.insert(x.line);
      if (x.durable != 0 && has_values(kept, x.line)) {
        let_go(kept, x.line);
        out.push_back(keep{});
      }
    }
}

bool dialogue::has_values(const kept_offer& x, line_id line) const {
  return std::ranges::any_of(x.offer.blocks, [&](const auto& block) {
    return options_.blocks->find(block.block)->line == line;
  });
}

// A server that has forgotten what it trained on is told all the same.
void dialogue::let_go(kept_offer& x, line_id line) const {
  auto& fetched = x.offer.fetched;
  std::erase_if(x.offer.blocks, [&](const auto& block) {
    if (options_.blocks->find(block.block)->line != line)
      return false;
    if (std::ranges::find(fetched, line, &messages::fetched_line::line)
        == fetched.end())
      fetched.push_back({line, block.base});
    return true;
  });
  std::ranges::sort(fetched, {}, &messages::fetched_line::line);
}

void dialogue::say_offer(kept_offer& x, actions& out, instant now) const {
  x.said = now;
  x.again.reset();
  auto copy = x.offer;
  std::erase_if(copy.blocks, [&](const auto& block) {
    const auto line = options_.blocks->find(block.block)->line;
    return !x.unanswered.contains(line) || x.held.contains(line);
  });
  if (!copy.blocks.empty()) // Else those who have it will answer.
    out.push_back(std::move(copy));
  messages::offer_awaited question{x.offer.pass, {}};
  for (const auto line : x.unanswered)
    if (!x.held.contains(line) && !has_values(x, line))
      question.lines.push_back(line);
  if (!question.lines.empty())
    out.push_back(std::move(question));
}

instant dialogue::again_at(const kept_offer& x) const {
  if (x.is_held())
    return x.said + options_.held_again_after;
  return std::min(x.said + options_.resend_after + time_to_cross(x.offer),
                  x.again.value_or(instant::max()));
}

// Drawn anew for each, by the instant of the one before.
instant dialogue::beat_due() const {
  constexpr double most = 0.2;
  random_stream stream{derive_seed(options_.beat_seed, "beat",
                                   static_cast<std::uint64_t>(beat_.count()))};
  const auto share = 1 + most * (2 * stream.uniform() - 1);
  return beat_ + from_seconds(seconds(options_.beat_every) * share);
}

dialogue::actions dialogue::due(instant now) {
  actions out;
  if (farewell_ || where_ == place::away)
    return out;
  if (connected_ && options_.beat_every > instant{} && now >= beat_due()) {
    beat_ = now;
    out.push_back(messages::beat{options_.me, session_});
  }
  const bool is_late = spoke_ + options_.resend_after <= now;
  if (!connected_) {
    if (is_late)
      out = say_hello(now);
    return out;
  }
  for (auto& x : file_.outbox)
    if (again_at(x) <= now) {
      x.held.clear();
      say_offer(x, out, now);
    }
  if (file_.open && !working_ && is_late)
    fetch_leg(out, now);
  return out;
}

std::optional<instant> dialogue::next_due() const {
  if (farewell_ || where_ == place::away)
    return std::nullopt;
  std::optional<instant> least;
  const auto consider = [&least](instant x) {
    least = std::min(least.value_or(x), x);
  };
  if (!connected_ || (file_.open && !working_))
    consider(spoke_ + options_.resend_after);
  if (connected_)
    for (const auto& x : file_.outbox)
      consider(again_at(x));
  if (connected_ && options_.beat_every > instant{})
    consider(beat_due());
  return least;
}

} // namespace troupe::actors
