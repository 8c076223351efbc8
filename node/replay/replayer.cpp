#include "node/replay/replayer.hpp"

#include <algorithm>

#include "actors/aggregator/line_rules.hpp"
#include "actors/gateway/screen.hpp"
#include "actors/record/begin_lines.hpp"
#include "node/replay/texts.hpp"
#include "node/run/rules.hpp"
#include "node/task/travel.hpp"

namespace troupe::node {

using namespace actors;

namespace {

result<void> check(const char* what, std::uint64_t found, std::size_t last) {
  if (found >= 1 && found <= last)
    return {};
  return fail(errc::invalid_data, "there is no " + std::string{what} + " "
                                    + std::to_string(found) + "; 1 to "
                                    + std::to_string(last) + " would do");
}

result<void> check(line_id x, const workload& w) {
  return check("line", x.value, w.blocks->lines.size());
}

} // namespace

replayer::replayer(const experiment& x, const workload& w, outlook ahead,
                   kept_offers kept)
  : x_(x),
    w_(w),
    drops_out_(drop_outs_of(x)),
    ahead_(std::move(ahead)),
    kept_(std::move(kept)) {
  // nop
}

result<std::unique_ptr<replayer>> replayer::make(const experiment& x,
                                                 const workload& w,
                                                 outlook ahead,
                                                 kept_offers kept) {
  std::unique_ptr<replayer> made{
    new replayer{x, w, std::move(ahead), std::move(kept)}};
  const auto books = make_memory_store({});
  const auto found =
    actors::begin_lines(*books, *w.blocks, w.initial)
      .and_then([&](const auto&) { return books->load(); });
  auto arithmetic = kernels::make_backend({});
  auto chooser = w.make_trainer();
  auto workers = crew::hire(worker_count(x), w.make_trainer);
  if (!found)
    return tl::make_unexpected(found.error());
  if (!arithmetic)
    return tl::make_unexpected(arithmetic.error());
  if (!chooser)
    return tl::make_unexpected(chooser.error());
  if (!workers)
    return tl::make_unexpected(workers.error());
  made->arithmetic_ = std::move(*arithmetic);
  made->chooser_ = std::move(*chooser);
  made->workers_ = std::move(*workers);
  const auto rules = line_rules_of(x);
  for (const auto& one : w.blocks->lines)
    made->lines_.try_emplace(one.id,
                             actors::ledger_options(rules, *w.blocks, one),
                             found->lines.at(one.id).blocks);
  return made;
}

result<comparison> replayer::hear(const recorded_event& x) {
  for (const auto& late : ahead_.take_before(x))
    if (auto ok = bring_forward(late); !ok)
      return tl::make_unexpected(ok.error());
  ahead_.pass(x);
  return follow(x);
}

result<void> replayer::check_client(client_id x) const {
  return is_elsewhere(x)
           ? result<void>{}
           : check("client", x.value, w_.task->clients.train.size());
}

screening_rules replayer::screening() const {
  return {.blocks = w_.blocks.get(),
          .disclosures = w_.method.disclosures,
          .weighting = x_.clients.example_weight};
}

result<comparison> replayer::follow(const recorded_event& x) {
  return std::visit(
    [this](const auto& y) -> result<comparison> {
      if constexpr (requires { y.visit; })
        if (auto ok = check_client(y.visit.client); !ok)
          return tl::make_unexpected(ok.error());
      if constexpr (requires { y.line; })
        if (auto ok = check(y.line, w_); !ok)
          return tl::make_unexpected(ok.error());
      return on(y);
    },
    x);
}

result<comparison> replayer::on(const messages::clients_admitted& x) {
  for (auto& [id, one] : lines_)
    one.admit(x.count);
  return comparison{};
}

result<comparison> replayer::on(const messages::invitation_made& x) {
  const auto& visit = x.pass.visit;
  if (auto ok = check_client(visit.client); !ok)
    return tl::make_unexpected(ok.error());
  if (const auto roles = w_.method.roles.size();
      x.pass.role >= roles && !is_last_visit(w_.method, x.pass.role))
    return fail(errc::invalid_data,
                "there is no role " + std::to_string(x.pass.role) + "; 0 to "
                  + std::to_string(roles - 1) + " would do");
  if (const auto seed = derive_seed(x_.seed, "visit", x.pass.index);
      x.pass.seed != seed)
    return fail(errc::invalid_data,
                to_text(visit) + " has the seed " + std::to_string(x.pass.seed)
                  + "; invitation " + std::to_string(x.pass.index)
                  + " of this run has " + std::to_string(seed));
  if (is_elsewhere(visit.client) || !ahead_.is_begun(visit))
    return comparison{};
  const auto& file = client(visit.client).file();
  if (file.open && visit.number > file.last) {
    const auto before = file.open->pass.visit;
    if (open_.at(before).process == processes_)
      return fail(errc::invalid_data,
                  to_text(visit) + " is invited while visit "
                    + std::to_string(file.last.value)
                    + " is open; an end of that before it would do");
    // A server that began anew forgot it, or its end.
    give_up(before, policies::verdict::withdrawn);
  }
  if (visit.number > file.last) {
    open_.try_emplace(visit, open_visit{.process = processes_});
    under_way_[visit.client] = visit.number;
  }
  say(visit.client, messages::invited{x.pass});
  return comparison{};
}

result<comparison> replayer::on(const messages::line_served& x) {
  if (is_elsewhere(x.visit.client)) {
    hold_for_other(x);
    return comparison{};
  }
  const auto visit = open_.find(x.visit);
  if (visit == open_.end()) {
    if (x.visit.number <= client(x.visit.client).file().last)
      return comparison{}; // It was over when this came.
    return fail(errc::invalid_data,
                to_text(x.visit)
                  + " fetches and was not invited; 'invited' before it would "
                    "do");
  }
  auto& own = lines_.at(x.line);
  if (!own.find(x.base))
    return fail(errc::invalid_data,
                "version " + std::to_string(x.base.value) + " of "
                  + to_text(x.line) + " cannot be fetched here; 0 to "
                  + std::to_string(own.head().value) + " would do");
  auto& before = visit->second.fetched;
  const auto same = std::ranges::find_if(
    before, [&](const auto& y) { return y.leg == x.leg && y.line == x.line; });
  if (same == before.end()) {
    own.hold(x.base);
    // Of what a client brought back the record may have a later leg already.
    const auto later = std::ranges::find_if(
      before, [&](const auto& y) { return y.leg > x.leg; });
    const bool is_late = later != before.end();
    before.insert(later, x);
    if (!is_late)
      serve(x);
    else if (client(x.visit.client).is_open(x.visit))
      begin_again(x.visit);
  } else if (same->base != x.base && client(x.visit.client).is_open(x.visit)) {
    own.hold(x.base);
    own.release(same->base);
    *same = x;
    begin_again(x.visit);
  }
  return comparison{};
}

void replayer::settle(visit_id x) {
  if (const auto found = under_way_.find(x.client);
      found != under_way_.end() && found->second == x.number)
    under_way_.erase(found);
}

result<void> replayer::check_work(const offer_recorded& x) {
  const auto work = jobs_.find(x.visit);
  if (work == jobs_.end())
    return fail(errc::invalid_data,
                to_text(x.visit) + " offers and has not "
                  + (open_.contains(x.visit) ? "fetched all that it trains on"
                                             : "been invited")
                  + "; that before it would do");
  if (work->second.drops_out)
    return fail(errc::invalid_data,
                to_text(x.visit)
                  + " offers, and its client drops out; 'visit_failed' would "
                    "do");
  return {};
}

result<comparison> replayer::on(const offer_recorded& x) {
  if (is_elsewhere(x.visit.client))
    return offer_of_other(x);
  settle(x.visit);
  auto early = early_.extract(x.visit);
  const auto& talk = client(x.visit.client);
  if (!early && !jobs_.contains(x.visit) && x.visit.number <= talk.file().last
      && !talk.is_open(x.visit))
    return comparison{}; // Said again, since nobody had answered.
  if (auto ok = early ? result<void>{} : check_work(x); !ok)
    return tl::make_unexpected(ok.error());
  const auto offer = early ? std::move(early.mapped()) : deliver(x.visit);
  auto compared =
    compare("the offer of " + to_text(x.visit), x.checksum,
            offer ? checksum_of(*offer) : "no offer: " + problem_);
  if (offer)
    for (auto& part : split(*offer, w_.examples(x.visit.client), screening()))
      lines_.at(part.line).offer(std::move(part));
  close_if_over(x.visit);
  return compared;
}

// If its offer came all the same, that was before: `outlook`.
result<comparison> replayer::on(const messages::visit_withdrawn& x) {
  if (is_elsewhere(x.visit.client))
    let_go_of_other(x.visit);
  else
    give_up(x.visit, x.why);
  return comparison{};
}

result<comparison> replayer::on(const process_began&) {
  if (++processes_ > 1) {
    for (auto& [id, talk] : clients_)
      forget_answers(id);
    forget_others();
  }
  return comparison{};
}

result<comparison> replayer::on(const messages::visit_failed& x) {
  comparison compared;
  if (is_elsewhere(x.visit.client)) {
    refuse_other(x.visit);
    return compared;
  }
  settle(x.visit);
  const auto* why = std::get_if<messages::decline_reason>(&x.why);
  const bool dropped = why && *why == messages::decline_reason::dropped;
  if (dropped || (why && *why == messages::decline_reason::no_offer)) {
    const auto work = jobs_.find(x.visit);
    // Records from before `dropped` call both `no_offer`.
    if (dropped || (work != jobs_.end() && work->second.drops_out)) {
      jobs_.erase(x.visit);
      auto& talk = client(x.visit.client);
      carry_out(talk, talk.give_up(x.visit));
    } else if (work != jobs_.end()) {
      // Its state is the client's now.
      if (const auto offer = deliver(x.visit))
        compared = compare(to_text(x.visit), "no offer", checksum_of(*offer));
    }
  } else {
    jobs_.erase(x.visit);
    for (auto& [id, one] : lines_) // It was refused as a whole.
      one.refuse(x.visit);
    const auto* refused = std::get_if<policies::verdict>(&x.why);
    say(x.visit.client,
        messages::visit_ended{x.visit, refused ? *refused
                                               : policies::verdict::withdrawn});
  }
  close_if_over(x.visit);
  return compared;
}

result<comparison> replayer::on(const messages::part_answered& x) {
  if (x.verdict == policies::verdict::too_stale)
    if (auto ok = lines_.at(x.line).check_too_stale(x.visit); !ok)
      return tl::make_unexpected(ok.error());
  if (x.verdict != policies::verdict::overloaded)
    lines_.at(x.line).refuse(x.visit);
  say(x.visit.client,
      messages::offer_answered{x.visit, x.line, x.verdict, x.head, 0});
  close_if_over(x.visit);
  let_go_of_other(x.visit);
  return comparison{};
}

std::map<std::string, models::digest> replayer::digests() const {
  std::map<std::string, models::digest> all;
  for (const auto& [id, line] : lines_)
    for (const auto& block : line.blocks())
      all[w_.blocks->find(block.block)->name] = block.digest;
  return all;
}

result<comparison> replayer::on(const round_recorded& x) {
  constexpr std::size_t rounds_kept = 64; // Windows overlap by a few.
  auto& lists = rounds_[x.round];
  lists.last = {x.visits.begin(), x.visits.end()};
  lists.all.insert(x.visits.begin(), x.visits.end());
  lists.parts = {x.parts.begin(), x.parts.end()};
  if (rounds_.size() > rounds_kept)
    rounds_.erase(rounds_.begin());
  return comparison{};
}

result<comparison> replayer::on(const end_recorded& x) {
  ended_ = true;
  for (const auto& [id, head] : x.heads)
    if (const auto made = lines_.find(id);
        made == lines_.end() || made->second.head() != head)
      return fail(errc::invalid_data,
                  "the run ended with version " + std::to_string(head.value)
                    + " of " + to_text(id)
                    + ", and its record has another; all of its versions "
                      "before it would do");
  return comparison{};
}

} // namespace troupe::node
