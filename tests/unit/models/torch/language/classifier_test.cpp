// Which class a row is of.

#include "models/torch/language/classifier.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/adapters/head_vectors.hpp"
#include "models/embeddings.hpp"
#include "models/inner_adapters.hpp"
#include "models/labels.hpp"
#include "models/outputs.hpp"
#include "tests/support/labelled_scene.hpp"
#include "tests/support/small_adapters.hpp"

namespace troupe::models::classifier_test {

namespace {

using test::classified_rows;
using test::expect_alike;
using test::gradient_of;
using test::labelled_model;
using row_list = std::vector<std::uint32_t>;

constexpr row_head three{head_kind::classes, 3};
const row_list all_rows{0, 1, 2};

std::unique_ptr<objective> trained(std::string_view config,
                                   std::uint32_t micro_batch = 0) {
  return labelled_model(config, three, classified_rows(),
                        {.trained = true, .micro_batch = micro_batch});
}

/// Logits of each row, one by one and without padding.
floats said_by_hand(std::string_view config, objective& of) {
  const auto tensors = test::tensors_in(of);
  const bool is_causal = test::tiny_spec(config).is_causal();
  floats all;
  for (const auto row : all_rows) {
    const auto states =
      test::states_by_hand(config, tensors, classified_rows()->at(row).ids);
    const auto pooled =
      is_causal ? states[states.size(0) - 1] : states.mean({0});
    const auto said = at::linear(pooled.unsqueeze(0),
                                 tensors[tensors.size() - 2], tensors.back())
                        .contiguous();
    all.insert(all.end(), said.data_ptr<float>(), said.data_ptr<float>() + 3);
  }
  return all;
}

floats said(objective& of, split part = split::train) {
  floats out(all_rows.size() * 3);
  const auto ok = of.outputs()->say(part, all_rows, out);
  EXPECT_TRUE(ok) << ok.error().context;
  return out;
}

/// A base that nobody trains, with a group over its first products and the
/// head.
struct adapted_scene {
  std::unique_ptr<kernels::backend> arithmetic = cpu();
  std::unique_ptr<objective> model;
  adapter_plan plan;

  explicit adapted_scene(std::string_view config)
    : model(
      labelled_model(config, three, classified_rows(), {.trained = false})),
      plan(planned(model->inside()->base_list(), {.rank = 1, .bias = false})) {
    // The head has a product of low rank beside it as all others have; here it
    // is wanted whole.
    const auto& list = model->inside()->base_list();
    const auto head =
      size_of(list) - list.back().size() - list[list.size() - 2].size();
    std::erase_if(plan.matrices,
                  [&](const adapted_matrix& x) { return x.at == head; });
    add_head(list, plan);
  }

  result<void> attach() {
    return model->inside()->attach({{.name = "adapter", .plan = plan}},
                                   arithmetic.get());
  }

  std::span<float> head() {
    auto values = model->inside()->values_of(0);
    return values.subspan(plan.vectors.front().in_adapter);
  }

  std::span<float> head_slopes() {
    return model->inside()->gradient_of(0).subspan(
      plan.vectors.front().in_adapter);
  }
};

} // namespace

TEST(classifiers, say_what_one_row_says_by_itself) {
  for (const auto config : test::tiny_models) {
    auto model = trained(config);
    ASSERT_TRUE(model);
    expect_alike(said(*model), said_by_hand(config, *model), 1e-5);
  }
}

TEST(classifiers, score_rows_and_not_tokens) {
  auto model = trained(test::tiny_bert);
  const auto found = model->evaluate(split::test, all_rows);
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_EQ(found->count, 3u);
  const auto judged =
    model->outputs()->judge(split::test, all_rows, said(*model), {});
  EXPECT_EQ(found->correct, judged.correct);
  double loss = 0;
  for (const auto x : judged.losses)
    loss += x;
  EXPECT_NEAR(found->loss, loss, 1e-5);
  EXPECT_NEAR(*model->backward(all_rows, 1), loss / 3, 1e-5);
}

TEST(classifiers, learn_the_same_in_passes_of_any_size) {
  for (const auto config : test::tiny_models) {
    SCOPED_TRACE(config);
    auto whole = trained(config);
    const auto expected = gradient_of(*whole, all_rows);
    for (const auto size : {1u, 2u}) {
      auto some = trained(config, size);
      expect_alike(gradient_of(*some, all_rows), expected, 1e-6);
    }
  }
}

TEST(classifiers, learn_from_what_others_make_of_their_outputs) {
  auto model = trained(test::tiny_bert);
  auto expected = gradient_of(*model, all_rows);
  std::ranges::fill(model->gradient(), 0.f);
  const auto spoken = model->outputs()->speak(all_rows, 1);
  ASSERT_TRUE(spoken) << spoken.error().context;
  floats slopes(9);
  model->outputs()->judge(split::train, all_rows, spoken->values, slopes);
  divide(slopes, 3);
  ASSERT_TRUE(spoken->pull_back(slopes));
  expect_alike(floats(model->gradient().begin(), model->gradient().end()),
               expected, 1e-5);
}

TEST(classifiers, have_a_curvature) {
  auto model = trained(test::tiny_bert);
  const auto direction = draw(model->parameters().size(), 5);
  const floats at(model->parameters().begin(), model->parameters().end());
  constexpr float far = 1e-3f;
  const auto moved = [&](float by) {
    for (std::size_t i = 0; i < at.size(); ++i)
      model->parameters()[i] = at[i] + by * direction[i];
    return gradient_of(*model, all_rows);
  };
  const auto ahead = moved(far), behind = moved(-far);
  floats expected(at.size());
  for (std::size_t i = 0; i < at.size(); ++i)
    expected[i] = (ahead[i] - behind[i]) / (2 * far);
  std::ranges::copy(at, model->parameters().begin());
  std::ranges::fill(model->gradient(), 0.f);
  const auto ok = model->curve(all_rows, 1, direction);
  ASSERT_TRUE(ok) << ok.error().context;
  expect_alike(floats(model->gradient().begin(), model->gradient().end()),
               expected, 5e-2);
}

TEST(classifiers, have_embeddings_of_length_one) {
  auto model = trained(test::tiny_bert);
  auto* embeddings = model->embeddings();
  ASSERT_TRUE(embeddings);
  ASSERT_EQ(embeddings->width(), 8u);
  floats out(8);
  ASSERT_TRUE(embeddings->embed(split::train, 1, out));
  const auto mean =
    test::states_by_hand(test::tiny_bert, test::tensors_in(*model),
                         classified_rows()->at(1).ids)
      .mean({0});
  const auto expected = (mean / mean.norm()).contiguous();
  expect_alike(out, {expected.data_ptr<float>(), 8}, 1e-5);
}

TEST(classifiers, tally_what_test_rows_were_taken_for) {
  auto model = trained(test::tiny_bert);
  auto* labels = model->labels();
  ASSERT_TRUE(labels);
  EXPECT_EQ(labels->classes(), 3u);
  EXPECT_EQ(labels->class_of(split::test, 0), 2u);
  // All the same, and the first of equals is the answer.
  auto parameters = model->parameters();
  std::ranges::fill(parameters.last(3 * 8 + 3), 0.f);
  ASSERT_TRUE(model->evaluate(split::test, all_rows));
  ASSERT_TRUE(model->evaluate(split::train, all_rows));
  const auto tally = labels->take_tally();
  EXPECT_EQ(tally.rows, 3u);
  EXPECT_EQ(tally.taken_for,
            (std::vector<std::uint64_t>{1, 0, 0, 0, 0, 0, 2, 0, 0}));
  EXPECT_EQ(labels->take_tally().rows, 0u);
  // What is judged for others counts, what is learned from does not.
  const floats logits(9);
  floats slopes(9);
  model->outputs()->judge(split::test, all_rows, logits, {});
  model->outputs()->judge(split::test, all_rows, logits, slopes);
  EXPECT_EQ(labels->take_tally().rows, 3u);
}

TEST(classifiers, have_a_head_that_a_group_may_have_whole) {
  for (const auto config : {test::tiny_gpt2, test::tiny_bert}) {
    auto whole = trained(config);
    adapted_scene adapted{config};
    const auto before = said(*adapted.model);
    expect_alike(before, said(*whole), 1e-6);
    const auto ok = adapted.attach();
    ASSERT_TRUE(ok) << ok.error().context;
    // To the bit: nothing is there yet.
    EXPECT_EQ(said(*adapted.model), before);
    // Its slope is that of the head itself.
    const auto slopes = gradient_of(*whole, all_rows);
    gradient_of(*adapted.model, all_rows);
    const auto head = adapted.head_slopes();
    expect_alike(head, std::span{slopes}.last(head.size()), 1e-5);
    // It counts, and what is out does not.
    std::ranges::fill(adapted.head(), 0.25f);
    EXPECT_NE(said(*adapted.model), before);
    adapted.model->inside()->leave_out(0, true);
    EXPECT_EQ(said(*adapted.model), before);
  }
}

TEST(classifiers, mix_a_head_by_its_groups_share) {
  adapted_scene adapted{test::tiny_bert};
  ASSERT_TRUE(adapted.attach());
  std::ranges::fill(adapted.head(), 0.5f);
  const auto expected = said(*adapted.model);
  std::ranges::fill(adapted.head(), 1.f);
  const double half[]{0.5};
  adapted.model->inside()->mix(half);
  expect_alike(said(*adapted.model), expected, 1e-6);
}

TEST(classifiers, have_no_other_vector_whole) {
  adapted_scene adapted{test::tiny_bert};
  const auto at = adapted.plan.vectors.front().at;
  adapted.plan.vectors.front().at = 0;
  auto refused = adapted.attach();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().context,
            "'adapter' adapts biases, which adapters inside layers do not; "
            "adapter_bias = 0 would do");
  adapted.plan.vectors.front().at = at;
  EXPECT_TRUE(adapted.attach());
}

TEST(classifiers, are_refused_rows_that_do_not_fit) {
  using row = test::listed_rows::row;
  const auto base =
    with_head(test::base_by_rule(test::tiny_spec(test::tiny_bert)), three, 1);
  const auto refusal = [&](std::size_t context, std::uint32_t vocabulary) {
    const auto made =
      make_text_objective({}, base,
                          std::make_shared<const test::listed_rows>(
                            context, vocabulary,
                            std::vector<row>{row{.ids = {1}, .targets = {0}}}));
    return made ? "made" : made.error().context;
  };
  EXPECT_EQ(refusal(4, 14),
            "the rows have ids up to 13, and the model has 13 tokens; a "
            "tokenizer of the same model would do");
  EXPECT_EQ(refusal(13, 13),
            "the rows have 13 tokens, and the model has places for 12; "
            "'context' = 12 at most would do");
}

} // namespace troupe::models::classifier_test
