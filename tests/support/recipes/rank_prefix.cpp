#include "tests/support/recipes/skeleton.hpp"

namespace troupe::test {

std::uint32_t rank_of(client_id x, std::uint32_t rank_max) {
  return 1 + static_cast<std::uint32_t>((x.value - 1) % rank_max);
}

/// One adapter, of which a client of rank r fetches and offers the first r
/// rows. It weighs by the norm of what it has; the rows that it lacks count as
/// zero.
sim_method rank_prefix_skeleton(std::uint32_t rank_max) {
  recipe what{
    .name = "rank_prefix",
    .summary = "adapters of different ranks, padded with zeros",
    .blocks = {{.name = "adapter",
                .merge = {.kind = merge_kind::padded},
                .weight = weight_rule::rank_norm,
                .rank = prefix_rows}},
    .legs = {{.fetch = {{"adapter"}}}},
    .roles = {{.procedure = {"sgd"}}},
    .disclosures = {
      {.name = "rank", .count_max = 1, .min = 1, .max = prefix_rows}}};
  const auto keep = [rank_max](const models::visit_input& x,
                               models::trained& out) {
    out.disclosures["rank"] = {
      static_cast<double>(rank_of(x.visit.client, rank_max))};
  };
  const auto ranks = [rank_max](client_id x) {
    return std::map<std::string, std::uint32_t>{
      {"adapter", rank_of(x, rank_max)}};
  };
  return {.what = std::move(what),
          .shapes = {{"adapter", matrix_of(prefix_rows, 3)}},
          .make_trainer =
            played({.choose = {}, .share_of = {}, .step = {}, .keep = keep}),
          .initial = {},
          .ranks = ranks,
          .lead_is_pulled = false};
}

} // namespace troupe::test
