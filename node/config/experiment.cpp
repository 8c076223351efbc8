#include "node/config/experiment.hpp"

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
    case rule::least_chosen:
      return policies::least_chosen_selection{};
    case rule::uniform:
      break;
  }
  return policies::uniform_selection{};
}

models::partitioner partition_options::how(std::size_t clusters) const {
  switch (kind) {
    case rule::dirichlet:
      return models::dirichlet_partition{alpha};
    case rule::labels:
      return models::labels_partition{labels_per_client};
    case rule::shards:
      return models::shards_partition{shards_per_client};
    case rule::disjoint:
      return models::disjoint_partition{clusters};
    case rule::size_skew:
      return models::lognormal_partition{skew};
    case rule::power:
      return models::power_partition{skew};
    case rule::column:
      return models::column_partition{};
    case rule::natural:
      return models::natural_partition{};
    case rule::iid:
      break;
  }
  return models::iid_partition{};
}

policies::speed_distribution speed_options::how() const {
  switch (kind) {
    case distribution::uniform:
      return policies::uniform_speed{slowest, fastest};
    case distribution::half_normal:
      return policies::half_normal_speed{sigma};
    case distribution::lognormal:
      return policies::lognormal_speed{sigma};
    case distribution::constant:
    case distribution::trace:
      break;
  }
  return policies::constant_speed{};
}

} // namespace troupe::node
