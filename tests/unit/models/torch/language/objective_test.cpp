// A language model that is trained as a whole, and what its scores count.

#include "models/torch/language/objective.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "tests/support/listed_rows.hpp"

namespace troupe::models::language_objective_test {

namespace {

using row_list = std::vector<std::uint32_t>;
using gradient_values = std::vector<float>;
using test::base_by_rule;
using test::expect_alike;
using test::listed_rows;
using test::tiny_spec;
using test::unequal_rows;

std::unique_ptr<objective> made(const language_config& how,
                                std::shared_ptr<const language_base> base,
                                std::shared_ptr<const token_rows> rows) {
  auto x = make_language_objective(how, std::move(base), std::move(rows));
  EXPECT_TRUE(x) << x.error().context;
  return x ? std::move(*x) : nullptr;
}

/// With its first values.
std::unique_ptr<objective>
trained(std::string_view config, language_config how,
        std::shared_ptr<const token_rows> rows = unequal_rows()) {
  how.trained = true;
  auto x = made(how, base_by_rule(tiny_spec(config)), std::move(rows));
  std::ranges::copy(x->initial_parameters(1), x->parameters().begin());
  return x;
}

struct descent {
  double loss = 0;
  gradient_values gradient;
};

descent backward(objective& x, const row_list& rows) {
  std::ranges::fill(x.gradient(), 0.f);
  const auto loss = x.backward(rows, 1);
  EXPECT_TRUE(loss) << loss.error().context;
  return {loss.value_or(0),
          gradient_values(x.gradient().begin(), x.gradient().end())};
}

/// Row by row without padding, and all logits at once.
descent by_hand(std::string_view config, const row_list& which) {
  const auto spec = tiny_spec(config);
  const auto rows = unequal_rows();
  auto tensors = test::tensors_by_rule(spec, at::kFloat);
  for (auto& x : tensors)
    x.requires_grad_();
  const auto network = make_language_network(spec);
  const auto parts = parts_of(tensors);
  auto sum = at::zeros({});
  std::int64_t count = 0;
  for (const auto row : which) {
    const auto& x = rows->at(row);
    const std::vector<std::int64_t> ids(x.ids.begin(), x.ids.end());
    const auto said = test::said_of(
      *network, *parts, {.ids = at::tensor(ids, at::kLong).unsqueeze(0)})[0];
    const auto chances = at::log_softmax(said, 1);
    for (std::size_t i = 0; i < x.targets.size(); ++i)
      if (x.targets[i] >= 0) {
        sum = sum - chances[static_cast<std::int64_t>(i)][x.targets[i]];
        ++count;
      }
  }
  const auto mean = sum / static_cast<double>(count);
  mean.backward();
  descent out{mean.item<double>(), {}};
  for (const auto& x : tensors) {
    const auto slope =
      x.grad().defined() ? x.grad().contiguous() : at::zeros(x.sizes());
    const auto* first = slope.data_ptr<float>();
    out.gradient.insert(out.gradient.end(), first, first + slope.numel());
  }
  return out;
}

std::string refusal(const language_spec& model, const token_rows& rows) {
  const auto x = make_language_objective(
    {.trained = true}, make_base(model, 1),
    std::make_shared<const listed_rows>(rows.context(), rows.vocabulary(),
                                        std::vector<listed_rows::row>{}));
  EXPECT_FALSE(x);
  if (x)
    return {};
  EXPECT_EQ(x.error().code, errc::invalid_config);
  return x.error().context;
}

} // namespace

TEST(language_objective, descends_as_its_network_does_row_by_row) {
  const row_list rows{0, 1, 2};
  for (const auto config : test::tiny_models) {
    SCOPED_TRACE(config);
    const auto expected = by_hand(config, rows);
    const auto found = backward(*trained(config, {}), rows);
    EXPECT_NEAR(found.loss, expected.loss, 1e-5);
    EXPECT_GT(test::largest_of(expected.gradient), 1e-3);
    expect_alike(found.gradient, expected.gradient, 1e-5);
  }
}

TEST(language_objective, is_the_same_in_any_chunks_and_passes) {
  const row_list rows{0, 1, 2, 3, 0};
  for (const auto config : test::tiny_models) {
    SCOPED_TRACE(config);
    const auto whole = backward(*trained(config, {}), rows);
    for (const std::uint32_t chunk : {1u, 7u, 256u})
      for (const std::uint32_t passes : {0u, 1u, 2u}) {
        SCOPED_TRACE(::testing::Message() << chunk << " targets of a chunk, "
                                          << passes << " rows of a pass");
        const auto some = backward(
          *trained(config, {.micro_batch = passes, .chunk = chunk}), rows);
        EXPECT_NEAR(some.loss, whole.loss, 1e-6 * (1 + whole.loss));
        expect_alike(some.gradient, whole.gradient, 1e-6);
      }
  }
}

TEST(language_objective, has_the_mean_over_targets_as_its_loss) {
  for (const std::uint32_t passes : {0u, 1u}) {
    const auto x = trained(test::tiny_gpt2, {.micro_batch = passes});
    const auto six = backward(*x, {0}).loss;
    const auto one = backward(*x, {2}).loss;
    EXPECT_GT(std::abs(six - one), 1e-3);
    EXPECT_NEAR(backward(*x, {0, 2}).loss, (6 * six + one) / 7, 1e-5);
  }
}

TEST(language_objective, learns_nothing_of_what_has_no_target) {
  const auto x = trained(test::tiny_llama, {.micro_batch = 1});
  const auto alone = backward(*x, {0});
  const auto beside = backward(*x, {3, 0, 3});
  EXPECT_EQ(beside.loss, alone.loss);
  EXPECT_EQ(beside.gradient, alone.gradient);
  const auto nothing = backward(*x, {3});
  EXPECT_EQ(nothing.loss, 0);
  EXPECT_EQ(test::largest_of(nothing.gradient), 0);
  const auto none = x->evaluate(split::test, row_list{3});
  ASSERT_TRUE(none);
  EXPECT_EQ(none->count, 0u);
  EXPECT_EQ(none->loss, 0);
}

TEST(language_objective, does_not_see_padding) {
  for (const auto config : test::tiny_models) {
    SCOPED_TRACE(config);
    const auto padded = trained(config, {});
    const auto short_rows = std::make_shared<const listed_rows>(
      4, 13, std::vector<listed_rows::row>{unequal_rows()->at(1)});
    const auto bare = trained(config, {}, short_rows);
    const auto expected = backward(*bare, {0});
    const auto found = backward(*padded, {1});
    EXPECT_NEAR(found.loss, expected.loss, 1e-6 * (1 + expected.loss));
    expect_alike(found.gradient, expected.gradient, 1e-5);
    const auto scored = padded->evaluate(split::train, row_list{1});
    ASSERT_TRUE(scored);
    EXPECT_EQ(scored->count, 3u);
  }
}

TEST(language_objective, scores_targets_and_guesses_the_first_of_equals) {
  const auto x = made({.trained = true},
                      base_by_rule(tiny_spec(test::tiny_gpt2)), unequal_rows());
  // All weights are zero, so each token is as likely as any other.
  const auto found = x->evaluate(split::test, row_list{0, 1, 2, 3});
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_EQ(found->count, 10u); // 6, 3, 1 and none.
  EXPECT_EQ(found->correct, 2u);
  EXPECT_NEAR(found->mean_loss(), std::log(13.), 1e-6);
}

TEST(language_objective, scores_what_it_descends) {
  for (const std::uint32_t passes : {0u, 1u}) {
    const auto x =
      trained(test::tiny_llama, {.micro_batch = passes, .chunk = 2});
    const auto found = x->evaluate(split::train, row_list{2, 0, 1});
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->mean_loss(), backward(*x, {0, 1, 2}).loss, 1e-5);
  }
}

TEST(language_objective, is_worth_the_same_trained_or_frozen) {
  for (const auto config : test::tiny_models) {
    SCOPED_TRACE(config);
    const row_list rows{0, 1, 2};
    const auto learned = trained(config, {})->evaluate(split::test, rows);
    const auto frozen =
      made({}, base_by_rule(tiny_spec(config)), unequal_rows())
        ->evaluate(split::test, rows);
    ASSERT_TRUE(learned && frozen);
    // Norms of weights that nobody trains add up in another order.
    EXPECT_NEAR(learned->loss / frozen->loss, 1, 1e-6);
    EXPECT_EQ(learned->correct, frozen->correct);
  }
}

TEST(language_objective, begins_as_its_file_or_as_the_seed_says) {
  const auto spec = tiny_spec(test::tiny_gpt2);
  const auto file = base_by_rule(spec);
  const auto from_file = made({.trained = true}, file, unequal_rows());
  EXPECT_EQ(from_file->parameter_list(), file->tensors());
  EXPECT_EQ(from_file->initial_parameters(1), file->values());
  EXPECT_EQ(from_file->initial_parameters(2), file->values());
  EXPECT_TRUE(from_file->buffer_list().empty());
  EXPECT_EQ(from_file->inside(), nullptr);
  const auto seeded =
    made({.trained = true}, make_base(spec, 1), unequal_rows());
  EXPECT_EQ(seeded->initial_parameters(2), initial_weights(spec, 2));
}

TEST(language_objective, curves_as_its_gradient_changes) {
  for (const auto config : {test::tiny_gpt2, test::tiny_llama}) {
    SCOPED_TRACE(config);
    const auto x = trained(config, {.micro_batch = 2, .chunk = 3});
    const row_list rows{0, 1, 2};
    const auto begin = x->initial_parameters(1);
    random_stream random{3};
    std::vector<float> direction(begin.size());
    for (auto& d : direction)
      d = static_cast<float>(random.normal());
    const auto slope_at = [&](float step) {
      for (std::size_t i = 0; i < begin.size(); ++i)
        x->parameters()[i] = begin[i] + step * direction[i];
      return backward(*x, rows).gradient;
    };
    constexpr float step = 1.f / 2048;
    const auto above = slope_at(step), below = slope_at(-step);
    slope_at(0);
    std::ranges::fill(x->gradient(), 1.f); // It is added to what is there.
    const auto done = x->curve(rows, 1, direction);
    ASSERT_TRUE(done) << done.error().context;
    double error = 0, length = 0;
    for (std::size_t i = 0; i < begin.size(); ++i) {
      const auto expected =
        static_cast<double>((above[i] - below[i]) / (2 * step));
      error += std::pow(x->gradient()[i] - 1 - expected, 2);
      length += expected * expected;
    }
    EXPECT_GT(length, 0.01);
    EXPECT_LT(error, 1e-3 * length);
  }
}

TEST(language_objective, refuses_rows_that_do_not_fit) {
  const auto model = tiny_spec(test::tiny_gpt2);
  EXPECT_EQ(refusal(model, listed_rows{6, 49'152, {}}),
            "the rows have ids up to 49151, and the model has 13 tokens; a "
            "tokenizer of the same model would do");
  EXPECT_EQ(refusal(model, listed_rows{13, 13, {}}),
            "the rows have 13 tokens, and the model has places for 12; "
            "'context' = 12 at most would do");
  auto headless = tiny_spec(test::tiny_bert);
  headless.has_head = false;
  headless.head_bias = false;
  EXPECT_EQ(refusal(headless, listed_rows{6, 13, {}}),
            "the model is bert, 2 layers of 8, 2 heads, 13 tokens, and has "
            "hidden states alone, which foretell no token; a model with a head "
            "would do");
}

} // namespace troupe::models::language_objective_test
