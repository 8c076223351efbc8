#include "models/language/headed_base.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "models/adapters/head_vectors.hpp"

namespace troupe::models {

namespace {

language_spec small() {
  return {.kind = architecture_kind::gpt2,
          .vocabulary = 7,
          .context = 4,
          .width = 4,
          .layers = 1,
          .heads = 2,
          .key_heads = 2,
          .head_width = 2,
          .inner = 8,
          .attention_bias = true,
          .inner_bias = true};
}

using floats = std::vector<float>;

floats tail(const floats& xs, std::size_t count) {
  return floats(xs.end() - static_cast<std::ptrdiff_t>(count), xs.end());
}

} // namespace

TEST(headed_bases, have_a_layer_behind_all_others) {
  const auto base = make_base(small(), 5);
  EXPECT_FALSE(head_of(*base));
  const auto headed = with_head(base, {head_kind::classes, 3}, 1);
  const auto count = base->tensors().size();
  ASSERT_EQ(headed->tensors().size(), count + 2);
  EXPECT_EQ(headed->tensors()[count].name, "head.weight");
  EXPECT_THAT(headed->tensors()[count].shape, ::testing::ElementsAre(3, 4));
  EXPECT_EQ(headed->tensors()[count + 1].name, "head.bias");
  EXPECT_THAT(headed->tensors()[count + 1].shape, ::testing::ElementsAre(3));
  EXPECT_EQ(head_of(*headed), (row_head{head_kind::classes, 3}));
  EXPECT_EQ(head_of(*with_head(base, {head_kind::ends, 2}, 1)),
            (row_head{head_kind::ends, 2}));
  EXPECT_EQ(headed->spec(), base->spec());
  const auto before = base->values();
  const auto after = headed->values();
  ASSERT_EQ(after.size(), before.size() + 15);
  EXPECT_TRUE(
    std::ranges::equal(before, std::span{after}.first(before.size())));
  EXPECT_EQ(tail(after, 3), floats(3));
  EXPECT_NE(tail(after, 15), floats(15));
  EXPECT_GT(headed->bytes(), base->bytes());
}

TEST(headed_bases, differ_by_all_that_they_are) {
  const auto base = make_base(small(), 5);
  const auto content = [&](row_head head, std::uint64_t seed) {
    return with_head(base, head, seed)->content();
  };
  const auto first = content({head_kind::classes, 2}, 1);
  EXPECT_EQ(content({head_kind::classes, 2}, 1), first);
  EXPECT_NE(content({head_kind::classes, 2}, 2), first);
  EXPECT_NE(content({head_kind::classes, 3}, 1), first);
  EXPECT_NE(content({head_kind::ends, 2}, 1), first);
  EXPECT_NE(base->content(), first);
  EXPECT_NE(
    with_head(make_base(small(), 6), {head_kind::classes, 2}, 1)->content(),
    first);
}

TEST(headed_bases, begin_as_their_file_and_with_a_head_of_the_seed) {
  const auto made = make_base(small(), 5);
  EXPECT_EQ(first_values(*made, 9), initial_weights(small(), 9));
  const auto read = make_base(small(), made->values());
  EXPECT_EQ(first_values(*read, 9), read->values());
  const auto headed = with_head(read, {head_kind::classes, 3}, 1);
  EXPECT_EQ(first_values(*headed, 1), headed->values());
  const auto other = first_values(*headed, 2);
  EXPECT_NE(tail(other, 15), tail(headed->values(), 15));
  EXPECT_TRUE(std::ranges::equal(read->values(),
                                 std::span{other}.first(other.size() - 15)));
  // One that is made begins anew in all of it.
  const auto two = with_head(made, {head_kind::classes, 3}, 1);
  EXPECT_EQ(tail(first_values(*two, 2), 15), tail(other, 15));
  const auto anew = first_values(*two, 2);
  EXPECT_TRUE(std::ranges::equal(initial_weights(small(), 2),
                                 std::span{anew}.first(other.size() - 15)));
}

TEST(headed_bases, are_adapted_with_their_head_whole) {
  const auto headed =
    with_head(make_base(small(), 5), {head_kind::classes, 3}, 1);
  auto plan = plan_adapters(headed->tensors(),
                            {.rank = 1, .bias = false, .layers = {"c_attn"}});
  ASSERT_TRUE(plan) << plan.error().context;
  const auto before = plan->size();
  add_head(headed->tensors(), *plan);
  EXPECT_EQ(plan->size(), before + 15);
  ASSERT_EQ(plan->vectors.size(), 2u);
  EXPECT_EQ(plan->vectors[0].size, 12u);
  EXPECT_EQ(plan->vectors[0].in_adapter, before);
  EXPECT_EQ(plan->vectors[0].at + 15, plan->model_size);
  EXPECT_EQ(plan->vectors[1].in_adapter, before + 12);
  EXPECT_EQ(plan->tensors.back().name, "head.bias");
  auto none = *plan;
  add_head(make_base(small(), 5)->tensors(), none);
  EXPECT_EQ(none.size(), plan->size());
}

} // namespace troupe::models
