// Texts by language models of torch.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/continuations.hpp"
#include "models/inner_adapters.hpp"
#include "models/torch/language/network.hpp"
#include "models/torch/language/objective.hpp"
#include "tests/support/listed_rows.hpp"
#include "tests/support/small_adapters.hpp"

namespace troupe::models::beam_test {

namespace {

using ids = std::vector<std::uint32_t>;
using test::tiny_spec;

std::unique_ptr<objective> model_of(std::string_view config,
                                    const language_config& how = {}) {
  return make_language_objective(how, test::base_by_rule(tiny_spec(config)),
                                 test::unequal_rows())
    .value();
}

continuation written(objective& by, const ids& prompt,
                     const continuation_rule& how) {
  const auto x = by.continuations()->go_on(prompt, how);
  EXPECT_TRUE(x) << x.error().context;
  return x ? *x : continuation{};
}

/// The logarithms of chances of what comes next, by the network alone.
std::vector<float> chances_after(std::string_view config, const ids& text) {
  const auto spec = tiny_spec(config);
  const auto network = make_language_network(spec);
  const auto parts = parts_of(test::tensors_by_rule(spec, at::kFloat));
  const std::vector<std::int64_t> tokens(text.begin(), text.end());
  const auto said = test::said_of(
    *network, *parts, {.ids = at::tensor(tokens, at::kLong).unsqueeze(0)});
  const auto last =
    at::log_softmax(said.select(1, said.size(1) - 1), 1).contiguous();
  const auto* first = last.data_ptr<float>();
  return {first, first + last.numel()};
}

/// The most probable token each time.
continuation greedy(std::string_view config, ids text, std::size_t tokens) {
  continuation x{.tokens = {}};
  for (std::size_t i = 0; i < tokens; ++i) {
    const auto chances = chances_after(config, text);
    const auto best = std::ranges::max_element(chances);
    const auto token = static_cast<std::uint32_t>(best - chances.begin());
    x.log_chance += static_cast<double>(*best);
    x.tokens.push_back(token);
    text.push_back(token);
  }
  return x;
}

constexpr std::string_view writing[] = {test::tiny_gpt2, test::tiny_llama};

std::string refusal(objective& by, const ids& prompt) {
  const auto x = by.continuations()->go_on(prompt, {});
  EXPECT_FALSE(x);
  return x ? std::string{} : x.error().context;
}

} // namespace

TEST(continuations, take_the_most_probable_token_each_time) {
  for (const auto config : writing)
    for (const bool is_trained : {false, true}) {
      const auto model = model_of(config, {.trained = is_trained});
      if (is_trained)
        std::ranges::copy(model->initial_parameters(0),
                          model->parameters().begin());
      for (const auto& prompt : {ids{3}, ids{1, 4, 0}, ids{12, 12}}) {
        const auto x = written(*model, prompt, {.tokens_max = 5});
        const auto expected = greedy(config, prompt, 5);
        EXPECT_EQ(x.tokens, expected.tokens);
        EXPECT_NEAR(x.log_chance, expected.log_chance, 1e-4);
      }
    }
}

TEST(continuations, are_no_less_probable_where_more_are_followed) {
  for (const auto config : writing) {
    const auto model = model_of(config);
    const auto one = written(*model, {5, 2}, {.beam = 1, .tokens_max = 3});
    const auto all = written(*model, {5, 2}, {.beam = 64, .tokens_max = 3});
    EXPECT_GE(all.log_chance, one.log_chance - 1e-5);
    EXPECT_EQ(all.tokens.size(), 3u);
  }
}

TEST(continuations, say_the_chance_of_what_they_write) {
  for (const auto config : writing) {
    const auto model = model_of(config);
    const auto x = written(*model, {7}, {.beam = 4, .tokens_max = 4});
    ids text{7};
    double sum = 0;
    for (const auto token : x.tokens) {
      sum += static_cast<double>(chances_after(config, text).at(token));
      text.push_back(token);
    }
    EXPECT_NEAR(x.log_chance, sum, 1e-4);
  }
}

TEST(continuations, end_where_the_model_has_no_more_places) {
  const auto model = model_of(test::tiny_gpt2);
  EXPECT_EQ(model->continuations()->tokens_max(), 12u);
  const auto x = written(*model, {1, 2, 3, 4, 5, 6, 7, 8}, {.tokens_max = 40});
  EXPECT_EQ(x.tokens.size(), 4u);
  EXPECT_FALSE(x.has_ended);
}

TEST(continuations, are_by_what_is_attached) {
  const auto base = test::base_by_rule(tiny_spec(test::tiny_gpt2));
  const auto model =
    make_language_objective({}, base, test::unequal_rows()).value();
  const auto before = written(*model, {3, 1}, {.tokens_max = 6});
  const auto arithmetic = cpu();
  const auto ok = model->inside()->attach(
    {{.name = "general",
      .plan = planned(base->tensors(), {.rank = 1, .bias = false})}},
    arithmetic.get());
  ASSERT_TRUE(ok) << ok.error().context;
  // Zeros beside the products change nothing, to the bit.
  const auto same = written(*model, {3, 1}, {.tokens_max = 6});
  EXPECT_EQ(same.tokens, before.tokens);
  EXPECT_EQ(same.log_chance, before.log_chance);
  std::uint32_t i = 0;
  for (auto& x : model->parameters())
    x = static_cast<float>(test::value_by_rule(77, i++)) / 2;
  const std::vector<float> values(model->parameters().begin(),
                                  model->parameters().end());
  EXPECT_NE(written(*model, {3, 1}, {.tokens_max = 6}).log_chance,
            before.log_chance);
  // Who writes learns nothing.
  EXPECT_TRUE(std::ranges::equal(model->parameters(), values));
  EXPECT_TRUE(
    std::ranges::all_of(model->gradient(), [](float x) { return x == 0; }));
}

TEST(continuations, are_of_who_does_not_look_ahead) {
  EXPECT_EQ(model_of(test::tiny_bert)->continuations(), nullptr);
  EXPECT_NE(model_of(test::tiny_llama)->continuations(), nullptr);
}

TEST(continuations, refuse_prompts_that_cannot_go_on) {
  const auto model = model_of(test::tiny_gpt2);
  EXPECT_EQ(refusal(*model, {}),
            "the prompt is empty, and a text goes on from a token; one word "
            "would do");
  EXPECT_EQ(refusal(*model, ids(12, 1)),
            "the prompt has 12 tokens, and the model has places for 12; 11 at "
            "most leave room for one more");
  EXPECT_EQ(refusal(*model, {1, 13}),
            "the prompt has token 13, and the model has 13; a tokenizer of the "
            "same model would do");
}

} // namespace troupe::models::beam_test
