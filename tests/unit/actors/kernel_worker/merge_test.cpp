// What is merged may lie on disk: the bits are the same.

#include "actors/kernel_worker/merge.hpp"

#include <gtest/gtest.h>

#include <map>

namespace troupe::actors::merge_test {

namespace {

const recipe one_block{.name = "one",
                       .summary = "",
                       .blocks = {{.name = "a"}},
                       .legs = {{.fetch = {{"a"}}}}};

models::layout layout() {
  return *models::make_layout(one_block, {{"a", {{"w", {3}}}}},
                              {.weight_max = 64, .delta_max = 8});
}

/// Offers of five clients, of which those in `away` are not in memory.
messages::merge_requested request(merge_kind kind, const models::layout& of,
                                  const std::set<std::uint64_t>& away) {
  const auto& block = of.blocks.front();
  messages::block_merge x{.block = block.id,
                          .rule = {.kind = kind, .count = 1, .keep = 1},
                          .base = share({1, 2, 3}),
                          .moments = {},
                          .terms = {},
                          .grid = block.grid};
  for (std::uint64_t i = 1; i <= 5; ++i) {
    const auto value = static_cast<float>(i) / 3;
    messages::merge_term term;
    term.block = block.id;
    term.weight = static_cast<double>(i);
    term.delta =
      away.contains(i) ? nullptr : share({value, -value, value * value});
    term.visit = {{i}, {1}};
    x.terms.push_back(term);
  }
  return {.line = {1}, .base = {}, .blocks = {x}, .step = {}};
}

result<shared_values> read(line_id, visit_id visit, block_id, values_part of) {
  const auto value = static_cast<float>(visit.client.value) / 3;
  return some_of(share({value, -value, value * value}), of);
}

} // namespace

TEST(merge, has_the_same_bits_of_offers_on_disk) {
  const auto blocks = layout();
  const auto arithmetic = *kernels::make_backend({});
  for (const auto kind :
       {merge_kind::mean, merge_kind::padded, merge_kind::median,
        merge_kind::trimmed_mean, merge_kind::krum, merge_kind::product_svd}) {
    const auto merged = [&](const std::set<std::uint64_t>& away) {
      const auto made =
        merge(*arithmetic, blocks, request(kind, blocks, away), read);
      EXPECT_TRUE(made) << made.error().context;
      return made->blocks.at(0).digest;
    };
    const auto whole = merged({});
    EXPECT_EQ(merged({2, 4}), whole);
    EXPECT_EQ(merged({1, 2, 3, 4, 5}), whole);
  }
}

// The others need the whole block, or remember some of it.
TEST(merge, has_the_same_bits_part_by_part) {
  const auto blocks = layout();
  const auto arithmetic = *kernels::make_backend({});
  for (const auto kind :
       {merge_kind::mean, merge_kind::mix, merge_kind::replace,
        merge_kind::sum_over, merge_kind::padded, merge_kind::median}) {
    const auto merged = [&](kernels::server_rule rule,
                            std::size_t values_at_once) {
      auto job = request(kind, blocks, {2, 4});
      job.step.rule = rule;
      const auto made = merge(*arithmetic, blocks, job, read, values_at_once);
      EXPECT_TRUE(made) << made.error().context;
      EXPECT_EQ(made->blocks.at(0).values->size(), 3u);
      return made->blocks.at(0).digest;
    };
    for (const auto rule :
         {kernels::server_rule::plain, kernels::server_rule::adam})
      for (const std::size_t values_at_once : {std::size_t{1}, std::size_t{2}})
        EXPECT_EQ(merged(rule, values_at_once), merged(rule, 3));
  }
}

TEST(merge, asks_for_no_more_of_what_is_on_disk_than_it_sums) {
  const auto blocks = layout();
  const auto arithmetic = *kernels::make_backend({});
  std::vector<std::size_t> asked;
  const auto made = merge(
    *arithmetic, blocks, request(merge_kind::mean, blocks, {3}),
    [&](line_id line, visit_id visit, block_id block, values_part of) {
      asked.insert(asked.end(), {of.first, of.count});
      return read(line, visit, block, of);
    },
    2);
  ASSERT_TRUE(made);
  EXPECT_EQ(asked, (std::vector<std::size_t>{0, 2, 2, 1}));
}

// Two numbers as factors: (2 * 3 + 3 * 8 * 5) / 4, and not the product of
// means. The server's optimiser has no part in it.
TEST(merge, averages_products_by_what_offers_weigh) {
  const recipe method{.name = "one",
                      .summary = "",
                      .blocks = {{.name = "a",
                                  .merge = {.kind = merge_kind::product_svd},
                                  .rank = 1}},
                      .legs = {{.fetch = {{"a"}}}}};
  const auto blocks =
    *models::make_layout(method, {{"a", {{"w.u", {1, 1}}, {"w.v", {1, 1}}}}},
                         {.weight_max = 64, .delta_max = 16});
  const auto& block = blocks.blocks.front();
  messages::block_merge x{.block = block.id,
                          .rule = block.merge,
                          .base = share({1, 1}),
                          .moments = {},
                          .terms = {},
                          .grid = block.grid};
  const auto offer = [&](std::uint64_t client, double weight, float u,
                         float v) {
    messages::merge_term term;
    term.block = block.id;
    term.weight = weight;
    term.delta = share({u - 1, v - 1});
    term.visit = {{client}, {1}};
    x.terms.push_back(term);
  };
  offer(1, 1, 2, 3);
  offer(2, 3, 8, 5);
  const auto arithmetic = *kernels::make_backend({});
  const auto made =
    merge(*arithmetic, blocks,
          {.line = {1},
           .base = {},
           .blocks = {x},
           .step = {.rule = kernels::server_rule::momentum, .rate = 0.5}});
  ASSERT_TRUE(made) << made.error().context;
  const auto& values = *made->blocks.at(0).values;
  EXPECT_FLOAT_EQ(values[0], 31.5f);
  EXPECT_FLOAT_EQ(values[1], 1);
  EXPECT_TRUE(made->blocks[0].moments.empty());
}

TEST(merge, says_what_cannot_be_read) {
  const auto blocks = layout();
  const auto arithmetic = *kernels::make_backend({});
  for (const auto kind : {merge_kind::mean, merge_kind::padded,
                          merge_kind::median, merge_kind::product_svd}) {
    const auto made =
      merge(*arithmetic, blocks, request(kind, blocks, {3}),
            [](auto...) -> result<shared_values> {
              return fail(errc::storage_failure, "1-3-1: is damaged");
            });
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().context, "1-3-1: is damaged");
  }
}

} // namespace troupe::actors::merge_test
