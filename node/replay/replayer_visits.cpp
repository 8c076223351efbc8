// How clients' dialogues are led, and their work done.

#include <algorithm>

#include "models/adapters/rank_prefix.hpp"
#include "node/replay/replayer.hpp"
#include "node/run/rules.hpp"

namespace troupe::node {

using namespace actors;

dialogue& replayer::client(client_id x) {
  if (const auto at = clients_.find(x); at != clients_.end())
    return at->second;
  return clients_.try_emplace(x, talk_of(x_, w_, x), client_file{})
    .first->second;
}

void replayer::say(client_id who, const messages::any_message& x) {
  if (is_elsewhere(who))
    return;
  auto& talk = client(who);
  carry_out(talk, talk.heard(x, {}));
}

/// Returns the offer among what the client says.
std::optional<messages::offer_made>
replayer::carry_out(dialogue& talk, const dialogue::actions& what) {
  std::optional<messages::offer_made> offer;
  for (const auto& action : what) {
    if (const auto* said = std::get_if<messages::any_message>(&action)) {
      if (const auto* made = std::get_if<messages::offer_made>(said))
        offer = *made;
    } else if (const auto* next = std::get_if<dialogue::job>(&action)) {
      if (const auto* train = std::get_if<messages::train_job>(&next->what)) {
        begin(*train);
        continue;
      }
      const auto& visit =
        std::get<messages::choose_job>(next->what).input.visit;
      const auto done = work_of(visit, next->what)(*chooser_);
      carry_out(talk, talk.finished(done, {}));
    }
  }
  return offer;
}

void replayer::begin(const messages::train_job& x) {
  const auto visit = x.input.visit;
  job added{std::make_shared<std::promise<messages::job_finished>>(),
            drops_out_ && drops_out_(x.input)};
  if (!added.drops_out)
    workers_->add([wanted = std::weak_ptr{added.outcome},
                   what = work_of(visit, x)](models::trainer& own) {
      if (const auto to = wanted.lock())
        to->set_value(what(own));
    });
  jobs_.insert_or_assign(visit, std::move(added));
}

/// As a shelf does: of the ranks that the client asks for.
void replayer::serve(messages::line_served x) {
  const auto& values = *lines_.at(x.line).find(x.base);
  const auto& blocks = w_.blocks->find(x.line)->blocks;
  const auto rank = client(x.visit.client).rank_of(x.line);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const auto& block = *w_.blocks->find(blocks[b]);
    x.blocks.push_back(
      {block.id,
       models::sent_of(block, models::take_prefix(block, rank, values[b]))});
  }
  say(x.visit.client, x);
}

/// A client that broke, and then got another version than before.
void replayer::begin_again(visit_id x) {
  auto& talk = client(x.client);
  talk = dialogue{talk_of(x_, w_, x.client), talk.file()};
  std::uint64_t nonce = 0;
  for (const auto& action : talk.start({}))
    if (const auto* said = std::get_if<messages::any_message>(&action))
      nonce = std::get<messages::hello>(*said).nonce;
  say(x.client, messages::welcome{.nonce = nonce, .session = {}, .heads = {}});
  for (const auto& served : open_.at(x).fetched)
    serve(served);
}

// It has nothing of its own any more; a visit that is open it begins again.
result<comparison> replayer::on(const messages::client_began_anew& x) {
  if (auto ok = check_client(x.client); !ok)
    return tl::make_unexpected(ok.error());
  if (is_elsewhere(x.client))
    return comparison{};
  auto& talk = client(x.client);
  client_file file;
  file.last = talk.file().last;
  if (talk.file().open)
    file.open = begun_visit{talk.file().open->pass, {}};
  talk = dialogue{talk_of(x_, w_, x.client), file};
  if (file.open && open_.contains(file.open->pass.visit)) {
    jobs_.erase(file.open->pass.visit);
    begin_again(file.open->pass.visit);
  }
  return comparison{};
}

/// Its client ends the visit now, and the record says so later.
result<void> replayer::bring_forward(const outlook::late_visit& x) {
  if (auto done = follow(x.made); !done)
    return tl::make_unexpected(done.error());
  for (const auto& served : x.fetched)
    if (auto done = follow(served); !done)
      return tl::make_unexpected(done.error());
  const auto* offer = std::get_if<offer_recorded>(&x.word);
  if (!offer)
    return follow(x.word).map([](const comparison&) {});
  if (is_elsewhere(offer->visit.client)) // What it is to be merged with stays.
    others_[offer->visit].awaited = true;
  if (const auto work = jobs_.find(offer->visit);
      work != jobs_.end() && !work->second.drops_out)
    early_.insert_or_assign(offer->visit, deliver(offer->visit));
  return {};
}

/// @pre the visit has a job, and its client does it
std::optional<messages::offer_made> replayer::deliver(visit_id x) {
  const auto done = jobs_.extract(x).mapped().outcome->get_future().get();
  const auto* broken = std::get_if<error>(&done.outcome);
  problem_ = broken ? broken->context : "";
  auto& talk = client(x.client);
  return carry_out(talk, talk.finished(done, {}));
}

void replayer::give_up(visit_id x, policies::verdict why) {
  jobs_.erase(x);
  say(x.client, messages::visit_ended{x, why});
  close_if_over(x);
}

/// What it offered and nobody will answer: the record has lost the answer, and
/// it was no version.
void replayer::forget_answers(client_id x) {
  const auto outbox = client(x).file().outbox;
  for (const auto& kept : outbox) {
    const auto& visit = kept.offer.pass.visit;
    for (const auto line : kept.unanswered) {
      if (ahead_.is_answered(visit, line))
        continue;
      lines_.at(line).refuse(visit);
      say(x, messages::offer_answered{
               visit, line, policies::verdict::withdrawn, {}, 0});
    }
    close_if_over(visit);
  }
}

void replayer::close_if_over(visit_id x) {
  const auto found = open_.find(x);
  const bool waits = std::ranges::any_of(
    lines_, [&](const auto& one) { return one.second.holds(x); });
  if (found == open_.end() || waits || early_.contains(x)
      || client(x.client).is_open(x))
    return;
  for (const auto& served : found->second.fetched)
    lines_.at(served.line).release(served.base);
  open_.erase(found);
}

} // namespace troupe::node
