// Clients whose data is elsewhere: what they offered is taken as the run kept
// it, and what becomes of it is computed.

#include <algorithm>

#include "core/limits.hpp"
#include "node/replay/replayer.hpp"
#include "node/replay/texts.hpp"

namespace troupe::node {

using namespace actors;

bool replayer::is_elsewhere(client_id x) const {
  return x.value > w_.task->clients.train.size()
         && x.value <= limits::clients_max
         && (x_.data.is_elsewhere() || !w_.shape.inputs.empty());
}

/// A merge of models needs the versions that they began with.
void replayer::hold_for_other(const messages::line_served& x) {
  auto& own = lines_.at(x.line);
  if (!own.find(x.base))
    return; // Noted late: what was made of it does not depend on it.
  own.hold(x.base);
  others_[x.visit].held.emplace_back(x.line, x.base);
}

result<comparison> replayer::offer_of_other(const offer_recorded& x) {
  auto& visit = others_[x.visit];
  visit.awaited = false;
  if (visit.offered)
    return comparison{}; // Said again, since nobody had answered.
  auto found = kept_.find(x.visit, x.checksum);
  if (!found)
    return tl::make_unexpected(found.error());
  if (!*found)
    return fail(errc::unsupported,
                to_text(x.visit)
                  + " offers what it trained on data of its own, and neither "
                    "that nor the offer is here");
  const auto& offer = (*found)->offer;
  visit.offered = true;
  auto compared =
    compare("the offer of " + to_text(x.visit), x.checksum, checksum_of(offer));
  // What the screen refused is in the record, too.
  if (!compared.first && !screen(offer, (*found)->examples, screening()))
    for (auto& part : split(offer, (*found)->examples, screening()))
      lines_.at(part.line).offer(std::move(part));
  return compared;
}

void replayer::refuse_other(visit_id x) {
  for (auto& [id, one] : lines_)
    one.refuse(x);
  let_go_of_other(x);
}

void replayer::let_go_of_other(visit_id x) {
  const auto found = others_.find(x);
  const bool waits = std::ranges::any_of(
    lines_, [&](const auto& one) { return one.second.holds(x); });
  if (found == others_.end() || waits || found->second.awaited)
    return;
  for (const auto& [line, base] : std::exchange(found->second.held, {}))
    lines_.at(line).release(base);
}

/// As of clients that are here: `forget_answers`.
void replayer::forget_others() {
  for (auto& [visit, about] : others_) {
    bool is_forgotten = false;
    for (auto& [id, line] : lines_)
      if (line.holds(visit) && !ahead_.is_answered(visit, id)) {
        line.refuse(visit);
        is_forgotten = true;
      }
    if (is_forgotten)
      about.offered = false; // It comes again, or nobody hears of it.
  }
}

} // namespace troupe::node
