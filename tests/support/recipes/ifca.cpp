#include <algorithm>
#include <cmath>

#include "tests/support/recipes/skeleton.hpp"

namespace troupe::test {

namespace {

constexpr std::uint32_t clusters = 3;

// A client's data are those of one cluster.
models::choice choose_least_loss(const models::visit_input& x,
                                 const models::layout& blocks) {
  const auto all = blocks.family("model");
  const auto wanted = optimum_of(all[x.visit.client.value % clusters]);
  const auto best = std::ranges::min_element(all, {}, [&](block_id id) {
    return std::abs(x.find(id)->values->front() - wanted);
  });
  models::choice result{.chosen = {*best}, .disclosures = {}};
  result.disclosures["cluster"] = {
    static_cast<double>(blocks.find(*best)->instance)};
  return result;
}

} // namespace

/// C models, all of them fetched; the one with the least loss is trained and
/// offered.
sim_method ifca_skeleton() {
  recipe what{
    .name = "ifca",
    .summary = "one model per cluster; a client trains its best",
    .blocks = {{.name = "model",
                .where = scope::expert,
                .count = clusters,
                .weight = weight_rule::one}},
    .legs = {{.fetch = {{"model"}}, .choice = {"least_loss"}}},
    .roles = {{.procedure = {"sgd"}}},
    .disclosures = {
      {.name = "cluster", .count_max = 1, .min = 0, .max = clusters - 1}}};
  // From equal models nobody could choose.
  const auto initial = [](const models::block_layout& x) {
    return std::vector<float>(x.size, optimum_of(x.id) - 0.25f);
  };
  return {
    .what = std::move(what),
    .shapes = {{"model", vector_of(3)}},
    .make_trainer = played(
      {.choose = choose_least_loss, .share_of = {}, .step = {}, .keep = {}}),
    .initial = initial};
}

} // namespace troupe::test
