// What is said in a client's name that it would not say, and what it is told
// that it has not asked for.

#include <algorithm>

#include "tests/support/sim/sim_network.hpp"

namespace troupe::test {

void sim_network::forge(messages::any_message& x, client_id from) {
  if (const auto* offer = std::get_if<messages::offer_made>(&x);
      offer
      && luck_.happens(luck_.forgers, luck_.active.forgery, "offer forged")) {
    x = forged(*offer);
    return;
  }
  const auto* wish = std::get_if<messages::fetch_requested>(&x);
  if (!wish || experts_.empty())
    return;
  auto& lines = asked_for_[from];
  lines.clear();
  for (const auto& want : wish->wanted)
    lines.insert(want.line);
  if (luck_.happens(luck_.forgers, luck_.active.forgery, "request forged"))
    x = forged(*wish);
}

// A forged offer takes the place of the client's own.
messages::any_message sim_network::forged(messages::offer_made x) {
  auto& draw = luck_.forgers;
  switch (draw.below(experts_.empty() ? 3 : 4)) {
    case 0:
      x.pass.mac[draw.below(x.pass.mac.size())] ^= 1;
      break;
    case 1:
      x.blocks.back().block = {99};
      break;
    case 2:
      x.blocks.back().weight = -1;
      break;
    default: // An anchor says nothing of a request, and others do.
      if (x.disclosures.empty())
        x.disclosures.push_back({0, {0}});
      else
        x.disclosures.clear();
  }
  return x;
}

// It asks for more than a visit may have, or for nothing, and ends.
messages::any_message sim_network::forged(messages::fetch_requested x) {
  x.wanted.clear();
  const auto begins = x.leg == 0;
  x.leg = 1;
  if (begins || luck_.forgers.chance(0.5))
    for (const auto line : experts_)
      x.wanted.push_back({.line = line});
  return x;
}

// It comes beside what is true.
std::optional<messages::any_message>
sim_network::forged_beside(const messages::any_message& any, client_id to) {
  const auto* served = std::get_if<messages::line_served>(&any);
  if (!served || experts_.empty()
      || !luck_.happens(luck_.forgers, luck_.active.forgery, "grant forged"))
    return std::nullopt;
  auto x = *served;
  const auto not_asked = std::ranges::find_if(
    experts_, [&](line_id y) { return !asked_for_[to].contains(y); });
  const auto kind = luck_.forgers.below(3);
  if (kind == 0 && not_asked != experts_.end())
    x.line = *not_asked;
  else if (kind == 1)
    x.leg += 2;
  else
    x.visit.number.value += 1000;
  return messages::any_message{x};
}

} // namespace troupe::test
