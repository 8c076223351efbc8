#include "models/torch/language/network.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/tiny_language.hpp"

namespace troupe::models::network_test {

namespace {

using test::apart;

constexpr std::int64_t tokens = 9;

/// A model of the rule's weights, in double.
class tiny {
public:
  explicit tiny(std::string_view config) : tiny(test::tiny_spec(config)) {
    // nop
  }

  explicit tiny(const language_spec& x)
    : tiny(x, test::tensors_by_rule(x, at::kDouble)) {
    // nop
  }

  tiny(const language_spec& x, std::vector<at::Tensor> tensors)
    : network_(make_language_network(x)),
      parts_(parts_of(std::move(tensors))) {
    // nop
  }

  at::Tensor say(const at::Tensor& ids, const at::Tensor& there = {}) const {
    return test::said_of(*network_, *parts_, {.ids = ids, .there = there});
  }

  at::Tensor hidden(const at::Tensor& ids) const {
    return network_->hidden(*parts_, {.ids = ids});
  }

private:
  std::unique_ptr<language_network> network_;
  std::unique_ptr<model_parts> parts_;
};

at::Tensor ids_of(std::int64_t rows) {
  return test::ids_by_rule(rows, tokens, 13);
}

/// The same with another token at one place of each row.
at::Tensor with_another(const at::Tensor& ids, std::int64_t place) {
  auto result = ids.clone();
  result.select(1, place).add_(1).remainder_(13);
  return result;
}

} // namespace

TEST(language_network_test, foretells_from_what_is_before_alone) {
  for (const auto config : {test::tiny_gpt2, test::tiny_llama}) {
    SCOPED_TRACE(config);
    const tiny model{config};
    const auto ids = ids_of(2);
    const auto said = model.say(ids);
    for (std::int64_t place = 1; place < tokens; ++place) {
      const auto other = model.say(with_another(ids, place));
      EXPECT_LT(apart(said.narrow(1, 0, place), other.narrow(1, 0, place)),
                1e-12);
      for (std::int64_t i = place; i < tokens; ++i)
        EXPECT_GT(apart(said.select(1, i), other.select(1, i)), 1e-6)
          << place << " is seen from " << i;
    }
  }
}

TEST(language_network_test, of_an_encoder_sees_all_of_a_text) {
  for (const auto config :
       {test::tiny_bert, test::tiny_roberta, test::tiny_deberta}) {
    SCOPED_TRACE(config);
    const tiny model{config};
    const auto ids = ids_of(1);
    const auto first = model.say(ids).select(1, 0);
    const auto other = model.say(with_another(ids, tokens - 1)).select(1, 0);
    EXPECT_GT(apart(first, other), 1e-6);
  }
}

TEST(language_network_test, tells_places_apart) {
  for (const auto config : test::tiny_models) {
    SCOPED_TRACE(config);
    const tiny model{config};
    auto ids = at::zeros({1, tokens}, at::kLong);
    ids.select(1, 0).fill_(3);
    auto moved = at::zeros({1, tokens}, at::kLong);
    moved.select(1, 1).fill_(3);
    const auto last = [&](const at::Tensor& x) {
      return model.say(x).select(1, tokens - 1);
    };
    EXPECT_GT(apart(last(ids), last(moved)), 1e-6);
  }
}

TEST(language_network_test, says_the_same_of_a_text_whatever_stands_behind_it) {
  for (const auto config : test::tiny_models) {
    SCOPED_TRACE(config);
    const tiny model{config};
    const auto ids = ids_of(2);
    auto there = at::ones({2, tokens}, at::kBool);
    there.select(0, 1).narrow(0, 5, tokens - 5).fill_(false);
    const auto padded =
      model.say(ids.masked_fill(there.logical_not(), 0), there);
    EXPECT_TRUE(padded.isfinite().all().item<bool>());
    EXPECT_LT(apart(padded[0], model.say(ids)[0]), 1e-9);
    const auto alone = model.say(ids.narrow(0, 1, 1).narrow(1, 0, 5));
    EXPECT_LT(apart(padded[1].narrow(0, 0, 5), alone[0]), 1e-9);
  }
}

TEST(language_network_test, says_the_same_of_a_row_whatever_is_beside_it) {
  for (const auto config : test::tiny_models) {
    SCOPED_TRACE(config);
    const tiny model{config};
    const auto ids = ids_of(3);
    const auto said = model.say(ids);
    for (std::int64_t row = 0; row < 3; ++row)
      EXPECT_LT(apart(said[row], model.say(ids.narrow(0, row, 1))[0]), 1e-9);
  }
}

TEST(language_network_test,
     with_grouped_heads_is_one_whose_heads_are_repeated) {
  const auto grouped = test::tiny_spec(test::tiny_llama);
  ASSERT_EQ(grouped.heads, 4u);
  ASSERT_EQ(grouped.key_heads, 2u);
  auto whole = grouped;
  whole.key_heads = whole.heads;
  auto tensors = test::tensors_by_rule(grouped, at::kDouble);
  for (const auto& layer : places_of(grouped).layers)
    for (const auto place : {layer.key, layer.value}) {
      const auto width = static_cast<std::int64_t>(grouped.head_width);
      const auto first = tensors[place].narrow(0, 0, width);
      const auto second = tensors[place].narrow(0, width, width);
      tensors[place] = at::cat({first, first, second, second});
    }
  EXPECT_LT(
    apart(tiny{grouped}.say(ids_of(2)), tiny{whole, tensors}.say(ids_of(2))),
    1e-12);
}

TEST(language_network_test, of_roberta_counts_places_from_behind_the_paddings) {
  const auto spec = test::tiny_spec(test::tiny_roberta);
  auto tensors = test::tensors_by_rule(spec, at::kDouble);
  const auto ids = ids_of(1);
  const auto said = tiny{spec, tensors}.say(ids);
  auto& places = tensors[places_of(spec).positions];
  places = places.clone();
  places.narrow(0, 0, 2).fill_(100);
  EXPECT_TRUE(torch::equal(tiny(spec, tensors).say(ids), said));
  places.select(0, 2).select(0, 0).add_(1);
  EXPECT_GT(apart(tiny(spec, tensors).say(ids), said), 1e-6);
}

TEST(language_network_test, has_a_head_that_is_the_table_of_its_tokens) {
  const auto spec = test::tiny_spec(test::tiny_gpt2);
  const auto tensors = test::tensors_by_rule(spec, at::kDouble);
  const tiny model{spec, tensors};
  const auto ids = ids_of(1);
  const auto expected =
    at::matmul(model.hidden(ids), tensors[places_of(spec).tokens].t());
  EXPECT_LT(apart(model.say(ids), expected), 1e-12);
}

TEST(language_network_test, computes_in_the_type_of_its_parts) {
  for (const auto config : test::tiny_models) {
    SCOPED_TRACE(config);
    const auto spec = test::tiny_spec(config);
    const tiny rounded{spec, test::tensors_by_rule(spec, at::kFloat)};
    const auto said = rounded.say(ids_of(2));
    EXPECT_EQ(said.scalar_type(), at::kFloat);
    EXPECT_LT(apart(said, tiny{spec}.say(ids_of(2))), 1e-3);
  }
}

TEST(mean_of_tokens_test, is_of_those_that_are_there_and_of_length_one) {
  const auto hidden = torch::tensor(
    {{{1., 2.}, {5., 6.}, {9., 9.}}, {{3., 0.}, {7., 7.}, {8., 8.}}},
    at::kDouble);
  const auto there = torch::tensor({{true, true, false}, {true, false, false}});
  // (3, 4) and (3, 0).
  const auto expected = torch::tensor({{0.6, 0.8}, {1., 0.}}, at::kDouble);
  EXPECT_LT(apart(mean_of_tokens(hidden, there), expected), 1e-12);
  const auto all = mean_of_tokens(hidden.narrow(1, 0, 2), {});
  EXPECT_LT(apart(all[0], expected[0]), 1e-12);
}

TEST(mean_of_tokens_test, of_padding_alone_is_zero_and_has_a_slope) {
  auto hidden = torch::ones({1, 2, 3}, at::kDouble);
  hidden.requires_grad_();
  const auto mean = mean_of_tokens(hidden, torch::zeros({1, 2}, at::kBool));
  EXPECT_EQ(mean.abs().sum().item<double>(), 0);
  mean.sum().backward();
  EXPECT_TRUE(hidden.grad().isfinite().all().item<bool>());
}

} // namespace troupe::models::network_test
