// What `troupe eval --model --text` finds, by torch.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "models/torch/language/objective.hpp"
#include "node/commands/eval_text.hpp"
#include "tests/support/listed_rows.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node {

namespace {

using troupe::test::listed_rows;

/// A model of bytes in a folder, and a text.
class text_worth_of_bytes : public ::testing::Test {
protected:
  text_worth_of_bytes() {
    auto spec = troupe::test::tiny_spec(troupe::test::tiny_gpt2);
    spec.vocabulary = 257;
    base = troupe::test::base_by_rule(spec);
    const auto ok = models::write_base(folder(), spec, base->values());
    EXPECT_TRUE(ok) << ok.error().context;
    std::ofstream{file()} << text;
  }

  std::string folder() const {
    return at.path() + "/model";
  }

  std::string file() const {
    return at.path() + "/text";
  }

  /// By windows that are written down.
  models::scores by_hand(std::size_t context) const {
    std::vector<listed_rows::row> rows;
    for (std::size_t first = 0; first + 1 < text.size(); first += context) {
      auto& row = rows.emplace_back();
      for (auto i = first; i < first + context && i + 1 < text.size(); ++i) {
        row.ids.push_back(text[i]);
        row.targets.push_back(text[i + 1]);
      }
    }
    std::vector<std::uint32_t> all(rows.size());
    std::iota(all.begin(), all.end(), 0u);
    auto model = models::make_language_objective(
      {}, base, std::make_shared<const listed_rows>(context, 257u, rows));
    EXPECT_TRUE(model) << model.error().context;
    return (*model)->evaluate(models::split::test, all).value();
  }

  troupe::test::scratch_folder at;
  std::shared_ptr<const models::language_base> base;
  const std::string text = "forty bytes that are all foretold but one";
};

} // namespace

TEST_F(text_worth_of_bytes, is_of_each_token_but_the_first) {
  for (const std::size_t context : {7u, 8u, 12u}) {
    const auto found = worth_of({.model = folder(),
                                 .text = file(),
                                 .tokenizer = "bytes",
                                 .context = context},
                                models::make_language_objective);
    ASSERT_TRUE(found) << found.error().context;
    EXPECT_EQ(found->tokens, text.size());
    EXPECT_EQ(found->scores.count, text.size() - 1);
    EXPECT_EQ(found->context, context);
    const auto expected = by_hand(context);
    EXPECT_EQ(expected.count, text.size() - 1);
    EXPECT_NEAR(found->scores.mean_loss(), expected.mean_loss(), 1e-5);
    EXPECT_EQ(found->scores.correct, expected.correct);
  }
}

// All of its weights are numbers, and what they come to is none.
TEST_F(text_worth_of_bytes, is_none_where_the_loss_is_no_number) {
  auto values = base->values();
  for (auto& x : values)
    x *= 1e36f;
  const auto path = at.path() + "/large";
  ASSERT_TRUE(models::write_base(path, base->spec(), values));
  const auto found =
    worth_of({.model = path, .text = file(), .tokenizer = "bytes"},
             models::make_language_objective);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, errc::invalid_data);
  EXPECT_TRUE(found.error().context.starts_with(path + ": the loss on " + file()
                                                + " is "))
    << found.error().context;
}

TEST_F(text_worth_of_bytes, is_by_windows_as_long_as_the_model_takes) {
  const auto found =
    worth_of({.model = folder(), .text = file(), .tokenizer = "bytes"},
             models::make_language_objective);
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_EQ(found->context, 12u);
  const auto longer = worth_of(
    {.model = folder(), .text = file(), .tokenizer = "bytes", .context = 13},
    models::make_language_objective);
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().context,
            folder()
              + ": the rows have 13 tokens, and the model has places for 12; "
                "'context' = 12 at most would do");
}

} // namespace troupe::node
