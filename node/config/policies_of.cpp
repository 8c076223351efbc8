#include "node/config/policies_of.hpp"

#include <algorithm>

#include "core/limits.hpp"
#include "policies/pacing.hpp"

namespace troupe::node {

policies::circumstances circumstances_of(const experiment& x) {
  policies::circumstances result{x.pace.mode};
  result.alone =
    policies::batch_size(x.pace.mode, x.pace.buffer_size) == std::size_t{1};
  result.rule = x.merge.rule.kind;
  result.weights = x.clients.example_weight;
  result.server_optimises = x.server.rule != kernels::server_rule::plain;
  const auto cohort = x.clients.clients_per_round;
  result.closes_early = x.pace.quorum > 0 && x.pace.quorum < cohort;
  result.over_selects =
    policies::cohort_size(cohort, x.pace.over_selection) > cohort;
  result.clips = x.merge.clip_norm > 0;
  result.rounds = x.merge.wire != sent_as::f32;
  return result;
}

std::uint64_t offers_max(const experiment& x) {
  return std::max<std::uint64_t>(
    limits::pending_offers_max,
    policies::cohort_size(x.clients.clients_per_round, x.pace.over_selection));
}

std::uint64_t offers_needed(const experiment& x) {
  switch (x.pace.mode) {
    case pace_kind::sync:
      return policies::cohort_size(x.clients.clients_per_round,
                                   x.pace.over_selection);
    case pace_kind::fedbuff:
      return x.pace.buffer_size;
    case pace_kind::semisync:
    case pace_kind::fedasync:
      break;
  }
  return 1;
}

std::size_t client_most(const experiment& x) {
  if (x.pace.mode != pace_kind::fedbuff || x.pace.client_share >= 1)
    return ~std::size_t{0};
  constexpr double slack = 1e-9; // A tenth of ten is one.
  return static_cast<std::size_t>(x.pace.client_share * x.pace.buffer_size
                                  + slack);
}

std::optional<models::watched> watched_of(const stop_options& x) {
  using enum stop_options::metric_kind;
  switch (x.metric) {
    case accuracy:
      return models::watched::accuracy;
    case loss:
      return models::watched::loss;
    case clients_mean:
      return models::watched::clients_mean;
    case clients_worst:
      return models::watched::clients_worst;
    case clients_perplexity:
      return models::watched::clients_perplexity;
    case none:
      break;
  }
  return std::nullopt;
}

std::string scores_to_stop_by(const data_options& x) {
  return x.foretells_tokens() ? "\"per_client.perplexity\""
                              : "\"per_client.mean\" or \"per_client.worst\"";
}

bool watches_clients(const stop_options& x) {
  const auto watched = watched_of(x);
  return watched && models::of_clients(*watched);
}

policies::selection selection_of(const selection_options& x) {
  switch (x.kind) {
    case selection_options::rule::round_robin:
      return policies::round_robin_selection{};
    case selection_options::rule::by_size:
      return policies::by_size_selection{};
    case selection_options::rule::power_of_choice:
      return policies::power_of_choice_selection{x.candidates};
    case selection_options::rule::oort:
      return policies::oort_selection{.exploration = x.exploration};
    case selection_options::rule::least_chosen:
      return policies::least_chosen_selection{};
    case selection_options::rule::uniform:
      break;
  }
  return policies::uniform_selection{};
}

namespace {

models::combinations_partition combinations_of(const partition_options& x) {
  return {.kinds = x.kinds_per_client,
          .anchors = x.anchors,
          .all_rows = x.sizes == partition_options::sizing::full_label,
          .rows = x.rows_per_client,
          .rows_per_kind = x.rows_per_kind,
          .unseen = x.unseen,
          .withheld = x.withheld,
          .groups = x.groups};
}

} // namespace

models::partitioner partitioner_of(const partition_options& x,
                                   std::size_t clusters) {
  switch (x.kind) {
    case partition_options::rule::dirichlet:
      return models::dirichlet_partition{x.alpha};
    case partition_options::rule::labels:
      return models::labels_partition{x.labels_per_client};
    case partition_options::rule::shards:
      return models::shards_partition{x.shards_per_client};
    case partition_options::rule::disjoint:
      return models::disjoint_partition{clusters};
    case partition_options::rule::size_skew:
      return models::lognormal_partition{x.skew};
    case partition_options::rule::power:
      return models::power_partition{x.skew};
    case partition_options::rule::column:
      return models::column_partition{};
    case partition_options::rule::natural:
      return models::natural_partition{};
    case partition_options::rule::combinations:
      return combinations_of(x);
    case partition_options::rule::mixtures:
      return models::mixtures_partition{
        .alpha = x.alpha, .anchors = x.anchors, .rows = x.rows_per_client};
    case partition_options::rule::iid:
    case partition_options::rule::sorted: // Labelled texts deal themselves.
      break;
  }
  return models::iid_partition{};
}

policies::speed_distribution speed_of(const speed_options& x) {
  switch (x.kind) {
    case speed_options::distribution::uniform:
      return policies::uniform_speed{x.slowest, x.fastest};
    case speed_options::distribution::half_normal:
      return policies::half_normal_speed{x.sigma};
    case speed_options::distribution::lognormal:
      return policies::lognormal_speed{x.sigma};
    case speed_options::distribution::constant:
    case speed_options::distribution::trace:
      break;
  }
  return policies::constant_speed{};
}

} // namespace troupe::node
