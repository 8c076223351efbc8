// Types of tokens, by which a model tells two texts of a row apart.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/outputs.hpp"
#include "models/torch/language/passes.hpp"
#include "tests/support/labelled_scene.hpp"

namespace troupe::models::token_types_test {

namespace {

using row = test::listed_rows::row;
using floats = std::vector<float>;
using row_list = std::vector<std::uint32_t>;

constexpr row_head three{head_kind::classes, 3};

/// No token of the second text is in the first.
std::shared_ptr<const test::listed_rows> one_pair(std::size_t second_from) {
  return std::make_shared<const test::listed_rows>(
    6, 13,
    std::vector<row>{
      row{.ids = {1, 4, 6, 9}, .targets = {2}, .second_from = second_from}});
}

std::size_t place_of(objective& of, std::string_view ending) {
  const auto& all = of.parameter_list();
  const auto found = std::ranges::find_if(
    all, [&](const auto& x) { return x.name.ends_with(ending); });
  EXPECT_NE(found, all.end());
  return static_cast<std::size_t>(found - all.begin());
}

floats said(objective& of) {
  floats out(3);
  const auto ok = of.outputs()->say(split::train, row_list{0}, out);
  EXPECT_TRUE(ok) << ok.error().context;
  return out;
}

std::string refusal(std::string_view config) {
  const auto made = make_text_objective(
    {}, with_head(test::base_by_rule(test::tiny_spec(config)), three, 1),
    one_pair(2));
  return made ? "made" : made.error().context;
}

} // namespace

TEST(types_of_tokens, are_added_to_those_of_the_second_text) {
  auto model = test::labelled_model(test::tiny_bert, three, one_pair(2));
  ASSERT_TRUE(model);
  // As if its tokens were others.
  auto tensors = test::tensors_in(*model);
  const auto types = tensors[place_of(*model, "token_type_embeddings.weight")];
  auto tokens = tensors[place_of(*model, "word_embeddings.weight")];
  for (const auto id : {6, 9})
    tokens[id] += types[1] - types[0];
  const auto states =
    test::states_by_hand(test::tiny_bert, tensors, {1, 4, 6, 9}).mean({0});
  const auto expected =
    at::linear(states.unsqueeze(0), tensors[tensors.size() - 2], tensors.back())
      .contiguous();
  test::expect_alike(said(*model), {expected.data_ptr<float>(), 3}, 1e-5);
}

TEST(types_of_tokens, are_learned_where_there_are_two_texts) {
  auto model = test::labelled_model(test::tiny_bert, three, one_pair(2));
  auto alone = test::labelled_model(test::tiny_bert, three, one_pair(0));
  const auto slope_of_second = [](objective& of) {
    const auto slopes = test::gradient_of(of, {0});
    const auto& all = of.parameter_list();
    std::size_t at = 0;
    for (std::size_t i = 0, end = place_of(of, "token_type_embeddings.weight");
         i < end; ++i)
      at += all[i].size();
    return test::largest_of(std::span{slopes}.subspan(at + 8, 8));
  };
  EXPECT_GT(slope_of_second(*model), 0);
  EXPECT_EQ(slope_of_second(*alone), 0);
  EXPECT_NE(*model->backward(row_list{0}, 1), *alone->backward(row_list{0}, 1));
}

TEST(types_of_tokens, are_of_tokens_that_are_there) {
  const auto found =
    read_pass(*one_pair(2), split::train, row_list{0}).x.types.contiguous();
  const auto* first = found.data_ptr<std::int64_t>();
  EXPECT_EQ((std::vector<std::int64_t>(first, first + 6)),
            (std::vector<std::int64_t>{0, 0, 1, 1, 0, 0}));
  EXPECT_FALSE(
    read_pass(*one_pair(0), split::train, row_list{0}).x.types.defined());
}

TEST(types_of_tokens, are_refused_by_a_model_that_has_fewer) {
  EXPECT_EQ(refusal(test::tiny_roberta),
            "the rows have tokens of 2 types, and the model has 1; a tokenizer "
            "of the same model would do");
  // Who has no table of them at all tells none apart.
  EXPECT_EQ(refusal(test::tiny_deberta), "made");
  EXPECT_EQ(refusal(test::tiny_bert), "made");
}

} // namespace troupe::models::token_types_test
