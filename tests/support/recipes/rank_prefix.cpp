#include "core/assert.hpp"
#include "tests/support/recipes/skeleton.hpp"
#include "tests/support/sim/sim_work.hpp"

namespace troupe::test {

std::uint32_t rank_of(client_id x, std::uint32_t rank_max) {
  return 1 + static_cast<std::uint32_t>((x.value - 1) % rank_max);
}

/// One adapter, of which a client of rank r fetches, from its second visit on,
/// and offers the first r rows. It weighs by the norm of what it has; the rows
/// that it lacks count as zero.
sim_method rank_prefix_skeleton(std::uint32_t rank_max) {
  recipe what{
    .name = "rank_prefix",
    .summary = "adapters of different ranks, padded with zeros",
    .blocks = {{.name = "adapter",
                .merge = {.kind = merge_kind::padded},
                .weight = weight_rule::rank_norm,
                .rank = prefix_rows,
                .rank_counter = "rank"}},
    .legs = {{.fetch = {{"adapter"}}}},
    .roles = {{.procedure = {"sgd"}}},
    .disclosures = {
      {.name = "rank", .count_max = 1, .min = 1, .max = prefix_rows}}};
  const auto step = [rank_max](const models::visit_input& x,
                               const models::fetched_block& from) {
    auto delta = pull(x, from);
    const auto own = rank_of(x.visit.client, rank_max) * prefix_columns;
    TROUPE_ASSERT(delta.size() >= own);
    delta.resize(own);
    return delta;
  };
  const auto keep = [rank_max](const models::visit_input& x,
                               models::trained& out) {
    const auto rank = rank_of(x.visit.client, rank_max);
    out.next.counters["rank"] = rank;
    out.disclosures["rank"] = {static_cast<double>(rank)};
  };
  return {.what = std::move(what),
          .shapes = {{"adapter", matrix_of(prefix_rows, prefix_columns)}},
          .make_trainer =
            played({.choose = {}, .share_of = {}, .step = step, .keep = keep}),
          .initial = {},
          .lead_is_pulled = false};
}

} // namespace troupe::test
