// FDLoRA with one adapter: what is fused in the end, and what stays as the
// client left it. Layers here are called as a transformer's are.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/adapter_site.hpp"
#include "tests/support/small_adapters.hpp"

namespace troupe::test::fused_attention_test {

namespace {

using floats = std::vector<float>;

/// 4 inputs, 5 hidden, 3 targets, and an adapter of rank 2 of both layers: of
/// the first 2 x (5 + 4) values, then of the second 2 x (3 + 5).
constexpr std::size_t first_size = 18, second_size = 16;

struct two_layers {
  /// @param first what its first layer is called, and so on
  two_layers(const char* first, const char* second) {
    const std::vector<std::size_t> hidden{5};
    const auto method = *policies::find_recipe("fdlora");
    const options said{{"adapters", 1}, {"rank", 2}, {"own_rank", 1}};
    models::regression model{problem, hidden};
    auto plan = models::adapters_for(method, model.parameter_list(),
                                     with_defaults(method, said))
                  .value();
    EXPECT_EQ(plan->tensors.size(), 4u);
    for (std::size_t i = 0; i < plan->tensors.size(); ++i)
      plan->tensors[i].name =
        std::string{i < 2 ? first : second} + (i % 2 == 0 ? ".u" : ".v");
    site = std::make_unique<adapter_site>(site_options{
      .method = "fdlora",
      .problem = problem,
      .said = said,
      .model = std::make_unique<models::regression>(problem, hidden),
      .clients = problem->clients,
      .common = plan});
  }

  /// Of a client that left `left`. @param by of its own and of the merged one;
  /// empty: it has not fused
  double loss(const floats& left, const floats& merged, floats by) const {
    auto state = std::make_shared<models::client_state>();
    state->visits = 1;
    state->blocks["left_adapter"] = personal_values{left};
    if (!by.empty()) {
      state->counters["fusion.found"] = 1;
      state->blocks["fusion"] = personal_values{std::move(by)};
    }
    const auto found =
      site->trainer->evaluate({.versions = site->visit(merged).fetched,
                               .per_client = true,
                               .states = {{{1}, state}}});
    EXPECT_TRUE(found) << found.error().context;
    return found ? found->per_client.at({1}).mean_loss() : 0;
  }

  std::shared_ptr<const models::regression_problem> problem =
    linear_problem(4, 3, 12, 5);
  std::unique_ptr<adapter_site> site;
};

/// 0.5 times what was left, less a quarter of what is merged.
floats fused(const floats& left, const floats& merged) {
  auto x = left;
  for (std::size_t j = 0; j < x.size(); ++j)
    x[j] = 0.5f * left[j] - 0.25f * merged[j];
  return x;
}

const floats halves{0.5f, -0.25f};
const floats left = models::draw(first_size + second_size, 1);
const floats merged = models::draw(first_size + second_size, 2);

} // namespace

TEST(fdlora, leaves_attention_as_it_was_where_it_has_one_adapter) {
  const two_layers x{"h.0.attn.c_attn.weight", "h.0.mlp.c_fc.weight"};
  auto wanted = fused(left, merged);
  std::copy_n(left.begin(), first_size, wanted.begin());
  EXPECT_NEAR(x.loss(left, merged, halves), x.loss(wanted, merged, {}), 1e-4);
  EXPECT_NE(x.loss(left, merged, halves),
            x.loss(fused(left, merged), merged, {}));
}

TEST(fdlora, fuses_attention_where_there_is_nothing_else) {
  const two_layers x{"layers.0.self_attn.q_proj.weight",
                     "layers.0.self_attn.v_proj.weight"};
  EXPECT_NEAR(x.loss(left, merged, halves),
              x.loss(fused(left, merged), merged, {}), 1e-4);
}

} // namespace troupe::test::fused_attention_test
