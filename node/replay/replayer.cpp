#include "node/replay/replayer.hpp"

#include <algorithm>

#include "actors/aggregator/line_rules.hpp"
#include "actors/gateway/screen.hpp"
#include "actors/kernel_worker/merge.hpp"
#include "actors/record/begin_lines.hpp"
#include "node/replay/product_gaps.hpp"
#include "node/run/rules.hpp"
#include "node/task/travel.hpp"

namespace troupe::node {

using namespace actors;

namespace {

std::string to_text(visit_id x) {
  return "client " + std::to_string(x.client.value) + ", visit "
         + std::to_string(x.number.value);
}

std::string to_text(line_id x) {
  return "line " + std::to_string(x.value);
}

result<void> check(const char* what, std::uint64_t found, std::size_t last) {
  if (found >= 1 && found <= last)
    return {};
  return fail(errc::invalid_data, "there is no " + std::string{what} + " "
                                    + std::to_string(found) + "; 1 to "
                                    + std::to_string(last) + " would do");
}

result<void> check(client_id x, const workload& w) {
  return check("client", x.value, w.task->clients.train.size());
}

result<void> check(line_id x, const workload& w) {
  return check("line", x.value, w.blocks->lines.size());
}

comparison compare(std::string what, const std::string& recorded,
                   std::string recomputed) {
  comparison x{.equal = recorded == recomputed, .total = 1, .first = {}};
  if (x.equal == 0)
    x.first = difference{std::move(what), recorded, std::move(recomputed)};
  return x;
}

} // namespace

replayer::replayer(const experiment& x, const workload& w, outlook ahead)
  : x_(x),
    w_(w),
    drops_out_(drop_outs_of(x)),
    ahead_(std::move(ahead)) {
  // nop
}

result<std::unique_ptr<replayer>>
replayer::make(const experiment& x, const workload& w, outlook ahead) {
  std::unique_ptr<replayer> made{new replayer{x, w, std::move(ahead)}};
  const auto books = make_memory_store({});
  const auto found =
    actors::begin_lines(*books, *w.blocks, w.initial).and_then([&] {
      return books->load();
    });
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

result<comparison> replayer::follow(const recorded_event& x) {
  return std::visit(
    [this](const auto& y) -> result<comparison> {
      if constexpr (requires { y.visit; })
        if (auto ok = check(y.visit.client, w_); !ok)
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
  if (auto ok = check(visit.client, w_); !ok)
    return tl::make_unexpected(ok.error());
  if (const auto roles = w_.method.roles.size(); x.pass.role >= roles)
    return fail(errc::invalid_data,
                "there is no role " + std::to_string(x.pass.role) + "; 0 to "
                  + std::to_string(roles - 1) + " would do");
  if (const auto seed = derive_seed(x_.seed, "visit", x.pass.index);
      x.pass.seed != seed)
    return fail(errc::invalid_data,
                to_text(visit) + " has the seed " + std::to_string(x.pass.seed)
                  + "; invitation " + std::to_string(x.pass.index)
                  + " of this run has " + std::to_string(seed));
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
  if (visit.number > file.last)
    open_.try_emplace(visit, open_visit{.process = processes_});
  say(visit.client, messages::invited{x.pass});
  return comparison{};
}

result<comparison> replayer::on(const messages::line_served& x) {
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
    before.push_back(x);
    serve(x);
  } else if (same->base != x.base && client(x.visit.client).is_open(x.visit)) {
    own.hold(x.base);
    own.release(same->base);
    *same = x;
    begin_again(x.visit);
  }
  return comparison{};
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
    for (auto& part : split(*offer, w_.examples(x.visit.client),
                            {.blocks = w_.blocks.get(),
                            .disclosures = w_.method.disclosures,
                            .weighting = x_.clients.example_weight}))
      lines_.at(part.line).offer(std::move(part));
  close_if_over(x.visit);
  return compared;
}

// If its offer came all the same, that was before: `outlook`.
result<comparison> replayer::on(const messages::visit_withdrawn& x) {
  give_up(x.visit, x.why);
  return comparison{};
}

result<comparison> replayer::on(const process_began&) {
  if (++processes_ > 1)
    for (auto& [id, talk] : clients_)
      forget_answers(id);
  return comparison{};
}

result<comparison> replayer::on(const messages::visit_failed& x) {
  comparison compared;
  const auto* why = std::get_if<messages::decline_reason>(&x.why);
  // Records from before `dropped` call both `no_offer`.
  if (why
      && (*why == messages::decline_reason::no_offer
          || *why == messages::decline_reason::dropped)) {
    const auto work = jobs_.find(x.visit);
    if (work != jobs_.end() && work->second.drops_out) {
      jobs_.erase(work);
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
  rounds_[x.round] = {x.visits.begin(), x.visits.end()};
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

// Whether the configuration makes a version of these.
result<void> replayer::check_batch(const version_recorded& x) const {
  const auto& line = lines_.at(x.line);
  if (!by_round(x_.pace.mode))
    return line.check(x.merged);
  const auto found = rounds_.find(x.round);
  const auto of = "round " + std::to_string(x.round.value);
  if (found == rounds_.end())
    return fail(errc::invalid_data,
                "a version of " + of
                  + ", which was not closed; 'round_closed' before it would "
                    "do");
  for (const auto& visit : x.merged)
    if (!found->second.contains(visit))
      return fail(errc::invalid_data, "a version holds " + to_text(visit)
                                        + ", which " + of + " does not name");
  for (const auto& visit : found->second)
    if (line.holds(visit)
        && std::ranges::find(x.merged, visit) == x.merged.end())
      return fail(errc::invalid_data, "a version leaves out " + to_text(visit)
                                        + ", which " + of + " names");
  return {};
}

void replayer::adopt(const version_recorded& x,
                     const messages::merge_finished& made) {
  lines_.at(x.line).adopt(made.blocks, x.merged, [&](version y) {
    return ahead_.is_fetched(x.line, y);
  });
  for (const auto& visit : x.merged) {
    say(visit.client, messages::offer_answered{
                        visit, x.line, policies::verdict::accepted, x.head, 0});
    close_if_over(visit);
  }
}

result<comparison> replayer::on(const version_recorded& x) {
  const auto due = next(lines_.at(x.line).head());
  const auto& blocks = w_.blocks->find(x.line)->blocks;
  if (x.head != due)
    return fail(errc::invalid_data,
                "version " + std::to_string(x.head.value) + " of "
                  + to_text(x.line) + " cannot come here; "
                  + std::to_string(due.value) + " would do");
  if (x.digests.size() != blocks.size())
    return fail(errc::invalid_data,
                "there are " + std::to_string(x.digests.size()) + " digests; "
                  + std::to_string(blocks.size())
                  + " would do, one for each block of " + to_text(x.line));
  if (auto ok = check_batch(x); !ok)
    return tl::make_unexpected(ok.error());
  if (x.clients > 0)
    lines_.at(x.line).admit(x.clients);
  const auto made =
    lines_.at(x.line).merge_of(x.merged).and_then([&](const auto& y) {
      note_product_gaps(y, w_, gaps_);
      return merge(*arithmetic_, *w_.blocks, y);
    });
  comparison all;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    auto one = compare("version " + std::to_string(x.head.value) + " of block '"
                         + w_.blocks->find(blocks[b])->name + "'",
                       x.digests[b],
                       made ? models::to_hex(made->blocks[b].digest)
                            : made.error().context);
    all.equal += one.equal;
    all.total += one.total;
    if (!all.first)
      all.first = std::move(one.first);
  }
  if (made)
    adopt(x, *made);
  return all;
}

} // namespace troupe::node
