#include "actors/node/experiment.hpp"

namespace troupe::node {

policies::staleness_discount staleness_options::discount() const {
  switch (kind) {
    case shape::polynomial:
      return policies::polynomial_discount{exponent};
    case shape::hinge:
      return policies::hinge_discount{.knee = knee, .slope = slope};
    case shape::exponential:
      return policies::exponential_discount{exponent};
    case shape::constant:
      break;
  }
  return policies::constant_discount{};
}

policies::selection selection_options::policy() const {
  switch (kind) {
    case rule::round_robin:
      return policies::round_robin_selection{};
    case rule::by_size:
      return policies::by_size_selection{};
    case rule::power_of_choice:
      return policies::power_of_choice_selection{candidates};
    case rule::oort:
      return policies::oort_selection{.exploration = exploration};
    case rule::uniform:
      break;
  }
  return policies::uniform_selection{};
}

} // namespace troupe::node
