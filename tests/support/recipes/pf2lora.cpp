#include "tests/support/recipes/skeleton.hpp"

namespace troupe::test {

namespace {

constexpr float inner_rate = 0.5f; // alpha
constexpr float outer_rate = 0.5f; // eta
constexpr std::size_t columns = 3;

} // namespace

float pf2lora_optimum(client_id x) {
  return 1 + 0.25f * static_cast<float>(x.value % 3);
}

/// Two levels on F(x, y) = |x + y - w|² / 2, where the common adapter x has
/// four rows and the client's own y has two: y' = y - alpha dF/dy(x, y), then x
/// follows dF/dx(x, y') - alpha d²F/dxdy dF/dy(x, y'). The second derivative is
/// 1 where y has the row and else 0.
sim_method pf2lora_skeleton() {
  recipe what{
    .name = "pf2lora",
    .summary = "a common adapter and one of each client, of lower rank",
    .blocks = {{.name = "pretrained", .where = scope::frozen},
               {.name = "adapter", .weight = weight_rule::one, .rank = 4},
               {.name = "own_adapter", .where = scope::personal, .rank = 2}},
    .legs = {{.fetch = {{"adapter"}}}},
    .roles = {{.procedure = {"two_level"}}},
    .options = {{.name = "inner_rate",
                 .says = "of a client's own",
                 .value = static_cast<double>(inner_rate),
                 .unit = "times the slope"},
                {.name = "outer_rate",
                 .says = "of the common one",
                 .value = static_cast<double>(outer_rate),
                 .unit = "times the slope"}}};
  constexpr std::size_t own_size = 2 * columns;
  const auto inner = [](const models::visit_input& x,
                        const value_view& common) {
    auto own = own_values(*x.state, "own_adapter", own_size);
    for (std::size_t j = 0; j < own.size(); ++j)
      own[j] -=
        inner_rate * (common[j] + own[j] - pf2lora_optimum(x.visit.client));
    return own;
  };
  const auto keep = [inner](const models::visit_input& x,
                            models::trained& out) {
    out.next.blocks["own_adapter"] =
      marked(inner(x, *x.fetched.front().values));
  };
  const auto step = [inner](const models::visit_input& x,
                            const models::fetched_block& from) {
    const auto own = inner(x, *from.values);
    std::vector<float> delta;
    for (std::size_t j = 0; j < from.values->size(); ++j) {
      const bool both = j < own.size();
      const float residual = (*from.values)[j] + (both ? own[j] : 0)
                             - pf2lora_optimum(x.visit.client);
      delta.push_back(-outer_rate * residual * (both ? 1 - inner_rate : 1));
    }
    return delta;
  };
  return {.what = std::move(what),
          .shapes = {{"adapter", matrix_of(4, columns)}},
          .make_trainer =
            played({.choose = {}, .share_of = {}, .step = step, .keep = keep}),
          .initial = {},
          .lead_is_pulled = false};
}

} // namespace troupe::test
