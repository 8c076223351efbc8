// How clients' dialogues are led, and their work done.

#include <algorithm>

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
  auto& talk = client(who);
  carry_out(talk, talk.heard(x, {}));
}

void replayer::tell(client_id who, const messages::any_message& x) {
  if (const auto waits = crossings_.find(who); waits != crossings_.end())
    return waits->second.unheard.push_back(x);
  say(who, x);
  if (const auto* end = std::get_if<messages::visit_ended>(&x))
    close_if_over(end->visit);
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

/// @pre the visit has a job, and its client does it
std::optional<messages::offer_made> replayer::deliver(visit_id x) {
  const auto done = jobs_.extract(x).mapped().outcome->get_future().get();
  const auto* broken = std::get_if<error>(&done.outcome);
  problem_ = broken ? broken->context : "";
  auto& talk = client(x.client);
  return carry_out(talk, talk.finished(done, {}));
}

void replayer::catch_up(client_id x) {
  const auto found = crossings_.extract(x);
  if (!found)
    return;
  jobs_.erase(found.mapped().withdrawn);
  for (const auto& message : found.mapped().unheard)
    tell(x, message);
}

/// What the client said of this visit was its last word on it.
void replayer::end(visit_id x) {
  if (const auto found = crossings_.find(x.client);
      found != crossings_.end() && found->second.withdrawn == x)
    catch_up(x.client);
  close_if_over(x);
}

/// Keeps the versions that the visit may fetch.
void replayer::open(visit_id x) {
  const auto [at, added] = open_.try_emplace(x);
  if (!added)
    return;
  for (auto& [id, one] : lines_)
    at->second.from[id] = one.open();
}

void replayer::close_if_over(visit_id x) {
  const auto found = open_.find(x);
  const bool waits = std::ranges::any_of(
    lines_, [&](const auto& one) { return one.second.holds(x); });
  if (found == open_.end() || waits || client(x.client).is_open(x))
    return;
  for (const auto& [id, from] : found->second.from)
    lines_.at(id).release(from);
  open_.erase(found);
}

} // namespace troupe::node
