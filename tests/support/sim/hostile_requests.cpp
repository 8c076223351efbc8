// Who asks for what no visit may have, or says that it asked for something
// else.

#include <algorithm>

#include "tests/support/sim/hostile.hpp"

namespace troupe::test {

std::vector<double> hostile::experts_served() const {
  std::vector<double> out;
  const auto experts = lines_of("expert");
  for (std::size_t i = 0; i < experts.size(); ++i)
    if (now_ && now_->served.contains(experts[i]))
      out.push_back(static_cast<double>(i));
  return out;
}

void hostile::strange_request() {
  if (now_->served.empty())
    return say("asks for experts first", sound_fetch(1));
  if (draw_.chance(0.5))
    return strange_choice(sound_fetch(1));
  auto x = sound_offer();
  if (!x)
    return;
  auto& values = x->disclosures.front().values;
  switch (draw_.below(5)) {
    case 0:
      x->disclosures.clear();
      return say("says nothing of its request", std::move(*x));
    case 1:
      values.clear();
      return say("says a request for nobody", std::move(*x));
    case 2:
      values = {1, 1};
      return say("says a request for one expert twice", std::move(*x));
    case 3:
      values = {0.5};
      return say("says a request for half an expert", std::move(*x));
    default:
      // Another one than it has, or one of those alone.
      values = {values == std::vector<double>{2} ? 0.0 : 2.0};
      return say("says another request", std::move(*x));
  }
}

void hostile::strange_choice(messages::fetch_requested x) {
  switch (draw_.below(5)) {
    case 0:
      x.wanted.push_back({.line = lines_of("expert").back()});
      return say("asks for too many experts", std::move(x));
    case 1:
      x.wanted.clear();
      return say("asks for no expert", std::move(x));
    case 2:
      x.wanted.assign(2, x.wanted.front());
      return say("asks for one expert twice", std::move(x));
    case 3:
      x.pass.role = 0;
      return say("asks as an anchor", std::move(x));
    default:
      x.wanted.erase(x.wanted.begin());
      say("asks for one expert", x);
      x.wanted = {{.line = lines_of("expert").back()}};
      say("asks for one expert after the other", x);
  }
}

} // namespace troupe::test
