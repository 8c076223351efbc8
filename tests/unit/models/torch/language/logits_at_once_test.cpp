// What a head says of one token is as long as the vocabulary: of a batch it
// never exists at once, in training, beside factors, where slopes are bent and
// in scoring.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "models/inner_adapters.hpp"
#include "models/torch/language/objective.hpp"
#include "tests/support/listed_rows.hpp"
#include "tests/support/small_adapters.hpp"
#include "tests/support/tensor_memory.hpp"

namespace troupe::models::logits_at_once_test {

namespace {

using row_list = std::vector<std::uint32_t>;

/// As many tokens as SmolLM2 has.
constexpr std::uint32_t vocabulary = 49'152;
constexpr std::uint32_t tokens = 64; ///< Of a row, each with a target.
constexpr std::uint32_t rows_of_chunk = language_config{}.chunk / tokens;
constexpr auto chunk_bytes =
  std::int64_t{rows_of_chunk} * tokens * vocabulary * 4;

constexpr std::string_view wide_gpt2 = R"({
  "architectures": ["GPT2LMHeadModel"], "model_type": "gpt2",
  "vocab_size": 49152, "n_positions": 64, "n_ctx": 64, "n_embd": 8,
  "n_layer": 1, "n_head": 2, "n_inner": null, "activation_function": "gelu_new",
  "layer_norm_epsilon": 1e-5, "tie_word_embeddings": true})";

std::shared_ptr<const test::listed_rows> whole_rows(std::uint32_t count) {
  std::vector<test::listed_rows::row> all(count);
  std::int32_t next = 1;
  for (auto& x : all)
    for (std::uint32_t i = 0; i < tokens; ++i) {
      x.ids.push_back(next);
      next = (next * 5 + 7) % static_cast<std::int32_t>(vocabulary);
      x.targets.push_back(next);
    }
  return std::make_shared<const test::listed_rows>(tokens, vocabulary,
                                                   std::move(all));
}

std::unique_ptr<objective> made(const language_config& how) {
  return make_language_objective(how,
                                 test::base_by_rule(test::tiny_spec(wide_gpt2)),
                                 whole_rows(2 * rows_of_chunk))
    .value();
}

/// With factors beside its attention.
std::unique_ptr<objective> adapted() {
  auto model = made({});
  const auto plan =
    planned(model->inside()->base_list(),
            {.rank = 1, .bias = false, .layers = {"attn.c_attn"}});
  EXPECT_TRUE(
    model->inside()->attach({{.name = "adapter", .plan = plan}}, nullptr));
  const auto values = draw(model->parameters().size(), 5);
  std::ranges::copy(values, model->parameters().begin());
  return model;
}

/// Over one chunk of targets, and over two: what the second takes beside the
/// first is no logits.
template <class Step>
void expect_one_chunk_at_once(Step step) {
  const auto of_rows = [&](std::uint32_t count) {
    row_list rows(count);
    std::iota(rows.begin(), rows.end(), 0u);
    return test::most_tensor_bytes([&] { step(rows); });
  };
  of_rows(rows_of_chunk); // What is made once is there.
  const auto one = of_rows(rows_of_chunk);
  const auto two = of_rows(2 * rows_of_chunk);
  EXPECT_GE(one, chunk_bytes) << "else nothing was measured";
  EXPECT_LT(two, one + chunk_bytes / 8);
}

} // namespace

TEST(logits, of_a_batch_that_all_weights_learn_are_never_there_at_once) {
  const auto model = made({.trained = true});
  expect_one_chunk_at_once([&](const row_list& rows) {
    const auto loss = model->backward(rows, 1);
    EXPECT_TRUE(loss) << loss.error().context;
  });
}

TEST(logits, of_a_batch_that_factors_learn_are_never_there_at_once) {
  const auto model = adapted();
  expect_one_chunk_at_once([&](const row_list& rows) {
    const auto loss = model->backward(rows, 1);
    EXPECT_TRUE(loss) << loss.error().context;
  });
}

TEST(logits, of_a_batch_whose_slopes_are_bent_are_never_there_at_once) {
  for (const bool trained : {false, true}) {
    const auto model = trained ? made({.trained = true}) : adapted();
    const auto direction = draw(model->parameters().size(), 3);
    expect_one_chunk_at_once([&](const row_list& rows) {
      const auto done = model->curve(rows, 1, direction);
      EXPECT_TRUE(done) << done.error().context;
    });
  }
}

// As PF2LoRA has it: others go there and back before it is bent.
TEST(logits, of_a_batch_whose_slopes_are_kept_are_never_there_at_once) {
  const auto model = adapted();
  const auto direction = draw(model->parameters().size(), 3);
  expect_one_chunk_at_once([&](const row_list& rows) {
    const auto kept = model->backward_and_keep(rows, 1);
    ASSERT_TRUE(kept) << kept.error().context;
    ASSERT_TRUE(kept->gradient);
    const auto loss = model->backward(rows, 1);
    EXPECT_TRUE(loss) << loss.error().context;
    const auto done = kept->gradient->curve(direction);
    EXPECT_TRUE(done) << done.error().context;
  });
}

TEST(logits, of_rows_that_are_scored_are_never_there_at_once) {
  const auto model = made({});
  expect_one_chunk_at_once([&](const row_list& rows) {
    const auto found = model->evaluate(split::test, rows);
    ASSERT_TRUE(found) << found.error().context;
    EXPECT_EQ(found->count, rows.size() * tokens);
  });
}

} // namespace troupe::models::logits_at_once_test
