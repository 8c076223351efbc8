#include "tests/support/recipes/skeleton.hpp"

namespace troupe::test {

/// The model moves by a mean, the control variate by a sum over all clients,
/// and both in one commit. A client's own variate counts once its offer is
/// accepted.
sim_method scaffold_skeleton() {
  recipe what{
    .name = "scaffold",
    .summary = "a model and its control variate, merged as one",
    .blocks = {{.name = "model", .group = "both", .weight = weight_rule::one},
               {.name = "control",
                .group = "both",
                .merge = {.kind = merge_kind::sum_over},
                .weight = weight_rule::one},
               {.name = "own_control", .where = scope::personal}},
    .legs = {{.fetch = {{"model"}, {"control"}}}},
    .roles = {{.procedure = {"controlled_sgd"}}},
    .state = state_rule::on_accept};
  const auto keep = [](const models::visit_input& x, models::trained& out) {
    auto own = own_values(*x.state, "own_control", 4);
    for (auto& v : own)
      v += 1;
    out.next.blocks["own_control"] = marked(std::move(own));
  };
  return {.what = std::move(what),
          .shapes = {{"model", vector_of(4)}, {"control", vector_of(4)}},
          .make_trainer =
            played({.choose = {}, .share_of = {}, .step = {}, .keep = keep})};
}

} // namespace troupe::test
