#include <cmath>

#include "tests/support/recipes/skeleton.hpp"

namespace troupe::test {

namespace {

constexpr std::uint32_t adapters = 3;

// pi: the softmax of the client's logits.
std::vector<double> shares(const models::client_state& x) {
  std::vector<double> result;
  double sum = 0;
  for (const float logit : own_values(x, "mixture", adapters))
    sum += result.emplace_back(std::exp(static_cast<double>(logit)));
  for (auto& v : result)
    v /= sum;
  return result;
}

} // namespace

/// One base for all, and C adapters that each client mixes by logits of its
/// own. All learn in one joint step, and pi is that after it. A client of this
/// skeleton is drawn to the adapter that its number names, soon so much that it
/// offers no other.
sim_method floral_skeleton(client_id liar) {
  recipe what{
    .name = "floral",
    .summary = "a base and adapters that each client mixes",
    .blocks = {{.name = "base"},
               {.name = "adapter",
                .where = scope::expert,
                .count = adapters,
                .weight = weight_rule::examples_times_share},
               {.name = "mixture", .where = scope::personal}},
    .legs = {{.fetch = {{"base"}, {"adapter"}}}},
    .roles = {{.procedure = {"joint_step"}}},
    .disclosures = {
      {.name = "pi", .count_max = adapters, .min = 0, .max = 1, .sum = 1}}};
  const auto keep = [liar](const models::visit_input& x, models::trained& out) {
    auto logits = own_values(*x.state, "mixture", adapters);
    logits[x.visit.client.value % adapters] += 4;
    out.next.blocks["mixture"] = marked(std::move(logits));
    auto pi = shares(out.next);
    if (x.visit.client == liar)
      pi.front() = pi.front() / 2 + 0.25;
    out.disclosures["pi"] = std::move(pi);
  };
  const auto share_of = [](const models::client_state& x, std::uint32_t i) {
    return shares(x)[i];
  };
  return {.what = std::move(what),
          .shapes = {{"base", vector_of(4)}, {"adapter", vector_of(2)}},
          .make_trainer = played(
            {.choose = {}, .share_of = share_of, .step = {}, .keep = keep})};
}

} // namespace troupe::test
