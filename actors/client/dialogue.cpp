#include "actors/client/dialogue.hpp"

#include <algorithm>
#include <utility>

#include "actors/client/server_screen.hpp"
#include "core/assert.hpp"
#include "core/limits.hpp"
#include "policies/invitations.hpp"

namespace troupe::actors {

using policies::verdict;

namespace {

/// Its lower half is the upper one of a nonce.
constexpr std::uint64_t incarnation_max = ~std::uint64_t{0} >> 1;

} // namespace

dialogue::dialogue(options opts, client_file found)
  : options_(std::move(opts)),
    file_(std::move(found)),
    blank_(file_.incarnation == 0) {
  ++file_.incarnation;
  nonce_ = file_.incarnation << 32;
}

dialogue::actions dialogue::heard(const messages::any_message& any,
                                  instant now) {
  actions out;
  if (where_ == place::away)
    return out;
  std::visit([&](const auto& x) { on(x, out, now); }, any);
  leave_if_drained(out);
  return out;
}

void dialogue::on(const messages::welcome& x, actions& out, instant now) {
  if (x.nonce != nonce_)
    return;
  session_ = std::max(session_, x.session); // Of copies the newest counts.
  if (std::exchange(connected_, true))
    return;
  if (options_.cache)
    served_by_ = options_.cache->server();
  blank_ = false;
  beat_ = now;
  resume(out, now);
}

void dialogue::on(const messages::farewell& x, actions& out, instant now) {
  using messages::farewell_reason;
  if (x.nonce != 0 && x.nonce != nonce_)
    return; // An earlier life of this client was meant.
  // Who has lost its file does not know how often it has begun: once, it
  // believes what it is told.
  const bool lost = x.reason == farewell_reason::superseded && x.nonce != 0
                    && x.newest > 0 && x.newest < incarnation_max && blank_;
  if (lost) {
    blank_ = false;
    file_.incarnation = x.newest + 1;
    nonce_ = file_.incarnation << 32;
  }
  if (lost || x.reason == farewell_reason::no_session) {
    auto again = start(now);
    std::ranges::move(again, std::back_inserter(out));
  } else {
    farewell_ = x;
  }
}

// After a new session: everything that is not answered is said again.
void dialogue::resume(actions& out, instant now) {
  for (auto& x : file_.outbox) {
    x.held.clear();
    say_offer(x, out, now);
  }
  if (file_.open && !working_)
    fetch_leg(out, now);
}

void dialogue::on(const messages::invited& x, actions& out, instant now) {
  using messages::decline_reason;
  const auto& pass = x.pass;
  if (pass.visit.client != options_.me)
    return;
  if (!is_sound(pass, file_.last, *options_.method))
    return decline(pass, decline_reason::failed, out);
  if (pass.visit.number <= file_.last) {
    // A copy, or the answer to it was lost.
    if (file_.open && file_.open->pass.visit == pass.visit)
      return;
    // Its offer may be on its way, and is said again when it is time.
    if (std::ranges::any_of(file_.outbox, [&](const auto& y) {
          return y.offer.pass.visit == pass.visit;
        }))
      return;
    // Of older ones it knows only that they are over.
    const bool known = pass.visit.number == file_.last && file_.declined;
    return decline(pass, known ? *file_.declined : decline_reason::dropped,
                   out);
  }
  if (file_.open || where_ == place::draining
      || file_.outbox.size() >= limits::outbox_offers_max)
    return decline(pass, decline_reason::busy, out);
  if (options_.method->state == state_rule::on_accept
      && !file_.outbox.empty()) {
    held_ = pass;
    return;
  }
  begin(pass, out, now);
}

void dialogue::begin(const messages::ticket& pass, actions& out, instant now) {
  file_.last = pass.visit.number;
  file_.open = begun_visit{pass, {}};
  file_.declined.reset();
  leg_ = 0;
  working_ = false;
  fetched_.clear();
  chosen_.clear();
  disclosed_.clear();
  out.push_back(keep{});
  fetch_leg(out, now);
}

std::vector<line_id> dialogue::lines_of_leg() const {
  std::set<line_id> lines;
  for (const auto& want : options_.method->legs[leg_].fetch)
    for (const auto block : options_.blocks->family(want.family))
      if (!want.chosen || std::ranges::find(chosen_, block) != chosen_.end())
        lines.insert(options_.blocks->find(block)->line);
  return {lines.begin(), lines.end()};
}

// Before its first visit a client does not know how many ranks it has, and
// fetches all.
std::uint32_t dialogue::rank_of(line_id line) const {
  const auto& first =
    *options_.blocks->find(options_.blocks->find(line)->blocks.front());
  const auto spec =
    std::ranges::find(options_.method->blocks, first.family, &block_spec::name);
  if (!file_.state || spec->rank_counter.empty())
    return 0;
  const auto found = file_.state->counters.find(spec->rank_counter);
  return found == file_.state->counters.end()
           ? 0
           : static_cast<std::uint32_t>(found->second);
}

void dialogue::fetch_leg(actions& out, instant now) {
  if (missing_.empty())
    for (const auto line : lines_of_leg())
      if (std::ranges::none_of(fetched_, [&](const auto& x) {
            return options_.blocks->find(x.block)->line == line;
          }))
        missing_.insert(line);
  if (missing_.empty())
    return leg_is_here(out, now);
  if (options_.cache)
    std::erase_if(here_, [now = options_.cache->server()](const auto& x) {
      return x.second.server != now;
    });
  messages::fetch_requested request{
    .pass = file_.open->pass, .leg = leg_, .wanted = {}};
  for (const auto line : missing_) {
    messages::want want{.line = line, .rank = rank_of(line)};
    if (options_.cache && !here_.contains(line))
      if (auto found = options_.cache->find(line, want.rank))
        here_.emplace(line, std::move(*found));
    if (const auto held = here_.find(line); held != here_.end())
      want.held = held->second.base;
    if (const auto before = file_.open->fetched.find(line);
        before != file_.open->fetched.end())
      want.exact = before->second;
    request.wanted.push_back(want);
  }
  spoke_ = now;
  out.push_back(std::move(request));
}

void dialogue::on(const messages::line_served& x, actions& out, instant now) {
  if (!file_.open || file_.open->pass.visit != x.visit || x.leg != leg_
      || !missing_.contains(x.line))
    return;
  if (!is_sound(x, rank_of(x.line), *options_.blocks)) {
    const auto pass = file_.open->pass;
    drop_visit();
    return end_without_offer(pass, messages::decline_reason::failed, out);
  }
  auto blocks = x.blocks;
  if (x.unchanged != 0) {
    const auto held = here_.find(x.line);
    if (held == here_.end() || held->second.base != x.base) {
      here_.erase(x.line); // It looks anew before it asks again.
      return;
    }
    blocks = std::move(held->second.blocks);
  } else if (options_.cache) {
    blocks = options_.cache->put(
      x.line, {x.base, rank_of(x.line), x.blocks, served_by_});
  }
  here_.erase(x.line);
  missing_.erase(x.line);
  for (const auto& block : blocks)
    fetched_.push_back({block.block, x.base, block.values});
  std::ranges::sort(fetched_, {}, &models::fetched_block::block);
  if (file_.open->fetched.insert_or_assign(x.line, x.base).second)
    out.push_back(keep{});
  if (missing_.empty())
    leg_is_here(out, now);
}

models::visit_input dialogue::input() const {
  const auto& pass = file_.open->pass;
  return {.visit = pass.visit,
          .seed = pass.seed,
          .progress = pass.progress,
          .role = pass.role,
          .leg = leg_,
          .fetched = fetched_,
          .chosen = chosen_,
          .state = file_.state};
}

void dialogue::leg_is_here(actions& out, instant now) {
  const auto& legs = options_.method->legs;
  const auto& roles = options_.method->roles;
  const bool chooses = !legs[leg_].choice.value.empty();
  const auto role = file_.open->pass.role;
  if (chooses && role < roles.size() && roles[role].choice_fixed) {
    chosen_ = fixed_choice();
    return after_choice(out, now);
  }
  working_ = true;
  if (chooses)
    out.push_back(job{messages::choose_job{input()}});
  else
    out.push_back(job{messages::train_job{input()}});
}

// Nothing is computed and nothing disclosed: the place says it all.
std::vector<block_id> dialogue::fixed_choice() const {
  const auto& legs = options_.method->legs;
  const auto& roles = options_.method->roles;
  const auto place = policies::place_in_role(options_.me, roles);
  std::vector<block_id> result;
  if (leg_ + 1 < legs.size())
    for (const auto& want : legs[leg_ + 1].fetch)
      if (const auto family = options_.blocks->family(want.family);
          want.chosen && !family.empty())
        result.push_back(family[place % family.size()]);
  return result;
}

void dialogue::after_choice(actions& out, instant now) {
  if (leg_ + 1 < options_.method->legs.size()) {
    ++leg_;
    return fetch_leg(out, now);
  }
  working_ = true;
  out.push_back(job{messages::train_job{input()}});
}

dialogue::actions dialogue::finished(const messages::job_finished& x,
                                     instant now) {
  actions out;
  // Of a visit that was withdrawn meanwhile: as if it had not been computed.
  if (!file_.open || file_.open->pass.visit != x.visit || !working_)
    return out;
  working_ = false;
  if (const auto* choice = std::get_if<models::choice>(&x.outcome)) {
    chosen_ = choice->chosen;
    for (const auto& [name, values] : choice->disclosures)
      disclosed_[name] = values;
    after_choice(out, now);
  } else if (const auto* trained = std::get_if<models::trained>(&x.outcome)) {
    offer(*trained, out, now);
  } else {
    const auto pass = file_.open->pass;
    drop_visit();
    end_without_offer(pass, messages::decline_reason::failed, out);
  }
  leave_if_drained(out);
  return out;
}

void dialogue::offer(const models::trained& x, actions& out, instant now) {
  auto next = std::make_shared<const models::client_state>(x.next);
  kept_offer kept;
  kept.offer.pass = file_.open->pass;
  kept.offer.loss = x.loss;
  for (const auto& part : x.parts) {
    const auto from =
      std::ranges::find(fetched_, part.block, &models::fetched_block::block);
    TROUPE_ASSERT(from != fetched_.end());
    kept.offer.blocks.push_back({part, from->base});
    kept.unanswered.insert(options_.blocks->find(part.block)->line);
  }
  for (const auto& [name, values] : x.disclosures)
    disclosed_[name] = values;
  const auto& declared = options_.method->disclosures;
  for (std::uint32_t i = 0; i < declared.size(); ++i)
    if (const auto found = disclosed_.find(declared[i].name);
        found != disclosed_.end())
      kept.offer.disclosures.push_back({i, found->second});
  for (const auto& [line, base] : file_.open->fetched)
    if (!kept.unanswered.contains(line))
      kept.offer.fetched.push_back({line, base});
  drop_visit();
  if (kept.unanswered.empty()) {
    file_.state = std::move(next);
    return end_without_offer(kept.offer.pass,
                             messages::decline_reason::no_offer, out);
  }
  if (options_.method->state == state_rule::on_accept)
    kept.next = std::move(next);
  else
    file_.state = std::move(next);
  file_.outbox.push_back(std::move(kept));
  out.push_back(keep{});
  say_offer(file_.outbox.back(), out, now);
}

void dialogue::end_without_offer(const messages::ticket& pass,
                                 messages::decline_reason why, actions& out) {
  file_.declined = why;
  out.push_back(keep{});
  decline(pass, why, out);
}

void dialogue::decline(const messages::ticket& pass,
                       messages::decline_reason why, actions& out) {
  out.push_back(messages::visit_declined{pass, why});
}

void dialogue::on(const messages::offer_answered& x, actions& out,
                  instant now) {
  for (std::size_t i = 0; i < file_.outbox.size(); ++i) {
    auto& kept = file_.outbox[i];
    if (kept.offer.pass.visit != x.visit)
      continue;
    if (x.verdict == verdict::overloaded) {
      if (x.retry_ms > 0 && kept.unanswered.contains(x.line))
        kept.again = now
                     + std::chrono::milliseconds{
                       std::min(x.retry_ms, limits::retry_ms_max)};
      return;
    }
    if (kept.unanswered.erase(x.line) == 0)
      return;
    kept.held.erase(x.line);
    kept.refused |=
      x.verdict != verdict::accepted && x.verdict != verdict::duplicate;
    if (kept.unanswered.empty())
      close_offer(i, out, now);
    else
      out.push_back(keep{});
    return;
  }
}

void dialogue::on(const messages::visit_ended& x, actions& out, instant now) {
  if (held_ && held_->visit == x.visit)
    held_.reset();
  if (file_.open && file_.open->pass.visit == x.visit) {
    drop_visit();
    out.push_back(keep{});
    return;
  }
  // What was offered before it heard so may be merged: the lines know.
  if (x.why == verdict::withdrawn)
    return;
  for (std::size_t i = 0; i < file_.outbox.size(); ++i)
    if (file_.outbox[i].offer.pass.visit == x.visit) {
      file_.outbox[i].refused = true;
      return close_offer(i, out, now);
    }
}

// Every line has answered.
void dialogue::close_offer(std::size_t at, actions& out, instant now) {
  const auto kept = std::move(file_.outbox[at]);
  file_.outbox.erase(file_.outbox.begin() + static_cast<std::ptrdiff_t>(at));
  if (kept.next && !kept.refused)
    file_.state = kept.next;
  out.push_back(keep{});
  if (file_.outbox.empty() && held_ && !file_.open) {
    const auto pass = *held_;
    held_.reset();
    begin(pass, out, now);
  }
}

} // namespace troupe::actors
