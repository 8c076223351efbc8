#include "actors/gateway/screen.hpp"

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/bf16.hpp"
#include "core/limits.hpp"
#include "kernels/backend.hpp"

namespace troupe::actors::screen_test {

namespace {

using policies::verdict;

constexpr auto infinity = std::numeric_limits<double>::infinity();
constexpr auto no_number = std::numeric_limits<double>::quiet_NaN();

/// Line 1 has blocks 1 and 2, line 2 has block 3 of two rows of two values.
const models::layout blocks = [] {
  models::layout x;
  const auto add = [&x](line_id line,
                        std::size_t size) -> models::block_layout& {
    auto& block = x.blocks.emplace_back();
    block.id = {x.blocks.size()};
    block.line = line;
    block.size = size;
    block.grid = kernels::grid_for(100, 8);
    return block;
  };
  add({1}, 2);
  add({1}, 1).weight = weight_rule::one;
  auto& adapter = add({2}, 4);
  adapter.rank = 2;
  adapter.tensors = {{"u", {2, 2}}};
  adapter.merge.kind = merge_kind::padded;
  x.lines = {{.id = {1}, .name = "group", .blocks = {{1}, {2}}},
             {.id = {2}, .name = "adapter", .blocks = {{3}}}};
  return x;
}();

const std::array disclosures{
  disclosure{.name = "mixture", .count_max = 2, .min = 0, .max = 1, .sum = 1.0},
  disclosure{.name = "rank", .count_max = 1, .min = 1, .max = 8}};

constexpr std::uint64_t examples = 50;

messages::offer_made sound() {
  return {
    .pass = {.visit = {{3}, {7}}, .round = {4}},
    .disclosures = {{0, {0.25, 0.75}}},
    .blocks = {{{.block = {1}, .weight = 50, .delta = share({1, -2})}, {5}},
               {{.block = {2}, .weight = 1, .delta = share({0})}, {5}},
               {{.block = {3}, .rank = 1, .weight = 50, .delta = share({3, 4})},
                {9}}},
    .loss = 0.5,
    .fetched = {}};
}

using change = std::function<void(messages::offer_made&)>;

std::optional<verdict> after(const change& damage, double norm_max = 0) {
  auto x = sound();
  damage(x);
  return screen(
    x, examples,
    {.blocks = &blocks, .disclosures = disclosures, .norm_max = norm_max});
}

const change nothing = [](auto&) {};

} // namespace

TEST(screen, lets_pass_what_is_sound_and_parts_of_it) {
  EXPECT_EQ(after(nothing), std::nullopt);
  EXPECT_EQ(after([](auto& x) { x.blocks.pop_back(); }), std::nullopt);
  EXPECT_EQ(after([](auto& x) {
              x.blocks.erase(x.blocks.begin(), x.blocks.begin() + 2);
            }),
            std::nullopt);
  EXPECT_EQ(after([](auto& x) {
              x.blocks[2].rank = 0;
              x.blocks[2].delta = share({1, 2, 3, 4});
            }),
            std::nullopt);
}

TEST(screen, knows_only_blocks_of_the_layout) {
  for (const std::uint64_t id : {4, 4000})
    EXPECT_EQ(after([id](auto& x) { x.blocks[2].block = {id}; }),
              verdict::unknown_expert);
  EXPECT_EQ(after([](auto& x) { x.blocks[0].block = {0}; }),
            verdict::unknown_expert);
}

TEST(screen, refuses_values_that_cannot_be_added_exactly) {
  for (const double bad : {no_number, infinity, -infinity, 1e30})
    EXPECT_EQ(after([bad](auto& x) {
                x.blocks[0].delta = share({1, static_cast<float>(bad)});
              }),
              verdict::malformed)
      << bad;
  EXPECT_EQ(after([](auto& x) { x.blocks[0].delta = nullptr; }),
            verdict::malformed);
}

TEST(screen, what_passes_can_be_added_and_the_next_larger_value_cannot) {
  const auto& grid = blocks.blocks[0].grid;
  const auto largest = static_cast<float>(grid.product_max() / 50);
  const auto delta = share({largest, 0});
  EXPECT_EQ(after([&](auto& x) { x.blocks[0].delta = delta; }),
            kernels::check_term({*delta, 50}, grid)
              ? std::nullopt
              : std::optional{verdict::malformed});
  EXPECT_EQ(after([&](auto& x) {
              x.blocks[0].delta = share({largest * 1.001f, 0});
            }),
            verdict::malformed);
  EXPECT_EQ(after([&](auto& x) {
              x.blocks[0].delta = share({largest * 0.999f, 0});
            }),
            std::nullopt);
}

TEST(screen, knows_what_was_fetched_line_by_line) {
  const auto with = [](std::vector<messages::fetched_line> fetched) {
    return after([&](auto& x) { x.fetched = fetched; });
  };
  EXPECT_EQ(with({{{1}, {9}}, {{2}, {0}}}), std::nullopt);
  EXPECT_EQ(with({{{2}, {9}}, {{1}, {9}}}), verdict::malformed);
  EXPECT_EQ(with({{{1}, {9}}, {{1}, {9}}}), verdict::malformed);
  EXPECT_EQ(with({{{3}, {9}}}), verdict::malformed);
  EXPECT_EQ(with({{{0}, {9}}}), verdict::malformed);
}

TEST(screen, refuses_other_sizes_and_ranks) {
  EXPECT_EQ(after([](auto& x) { x.blocks[0].delta = share({1}); }),
            verdict::malformed);
  EXPECT_EQ(after([](auto& x) {
              x.blocks[0].delta = share({1, 2, 3});
            }),
            verdict::malformed);
  EXPECT_EQ(after([](auto& x) { x.blocks[0].rank = 1; }), verdict::malformed);
  EXPECT_EQ(after([](auto& x) { x.blocks[2].rank = 2; }), verdict::malformed);
  EXPECT_EQ(after([](auto& x) { x.blocks[2].rank = 3; }), verdict::malformed);
}

TEST(screen, refuses_values_that_were_not_rounded_where_all_are) {
  auto rounded = blocks;
  rounded.blocks[0].sent = sent_as::bf16;
  auto x = sound();
  const auto found = [&] {
    return screen(x, examples,
                  {.blocks = &rounded, .disclosures = disclosures});
  };
  EXPECT_EQ(found(), std::nullopt);
  x.blocks[0].delta = share({1.001F, -2});
  EXPECT_EQ(found(), verdict::malformed);
  x.blocks[0].delta = rounded_to_bf16(x.blocks[0].delta);
  EXPECT_EQ(found(), std::nullopt);
}

TEST(screen, only_a_padded_merge_takes_a_prefix) {
  auto other = blocks;
  other.blocks[2].merge.kind = merge_kind::mean;
  const screening_rules rules{.blocks = &other, .disclosures = disclosures};
  EXPECT_EQ(screen(sound(), examples, rules), verdict::malformed);
  auto whole = sound();
  whole.blocks[2].rank = 0;
  whole.blocks[2].delta = share({1, 2, 3, 4});
  EXPECT_EQ(screen(whole, examples, rules), std::nullopt);
}

TEST(screen, the_shares_of_a_family_add_up_to_at_most_one) {
  auto mixed = blocks;
  mixed.blocks.erase(mixed.blocks.begin() + 2);
  mixed.lines.pop_back();
  for (std::uint64_t i = 0; i < 2; ++i) {
    mixed.blocks.push_back(blocks.blocks[2]);
    auto& block = mixed.blocks.back();
    block.id = {3 + i};
    block.line = {2 + i};
    block.family = "adapter";
    block.weight = weight_rule::examples_times_share;
    mixed.lines.push_back({.id = {2 + i}, .name = {}, .blocks = {{3 + i}}});
  }
  const screening_rules rules{.blocks = &mixed, .disclosures = disclosures};
  const auto with_weights = [&](double a, double b) {
    auto x = sound();
    x.blocks[2].weight = a;
    x.blocks.push_back(x.blocks[2]);
    x.blocks.back().block = {4};
    x.blocks.back().weight = b;
    return screen(x, examples, rules);
  };
  EXPECT_EQ(with_weights(20, 30), std::nullopt);
  EXPECT_EQ(with_weights(20, 31), verdict::malformed);
  EXPECT_EQ(with_weights(50, 50), verdict::malformed);
}

TEST(screen, nobody_weighs_more_than_he_registered) {
  for (const double bad : {0.0, -1.0, 50.1, 1e-30, no_number, infinity})
    EXPECT_EQ(after([bad](auto& x) { x.blocks[0].weight = bad; }),
              verdict::malformed)
      << bad;
  EXPECT_EQ(after([](auto& x) { x.blocks[1].weight = 2; }), verdict::malformed);
  EXPECT_EQ(after([](auto& x) { x.blocks[0].weight = 1; }), std::nullopt);
}

TEST(screen, a_line_comes_whole_on_one_base_and_once) {
  const std::array<change, 6> damages{
    [](auto& x) { x.blocks.erase(x.blocks.begin()); },
    [](auto& x) { x.blocks.erase(x.blocks.begin() + 1); },
    [](auto& x) { x.blocks[1].base = {6}; },
    [](auto& x) { std::swap(x.blocks[0], x.blocks[1]); },
    [](auto& x) { x.blocks.push_back(x.blocks.back()); },
    [](auto& x) { x.blocks.clear(); }};
  for (std::size_t i = 0; i < damages.size(); ++i)
    EXPECT_EQ(after(damages[i]), verdict::malformed) << "damage " << i;
}

TEST(screen, discloses_what_is_declared_and_nothing_else) {
  const std::array<std::vector<double>, 6> bad{
    std::vector{0.25, 0.5}, {0.5, 0.25, 0.25}, {1.5, -0.5},
    {no_number, 1},         {infinity, 0},     {}};
  for (const auto& values : bad)
    EXPECT_EQ(after([&](auto& x) { x.disclosures[0].values = values; }),
              verdict::malformed);
  EXPECT_EQ(after([](auto& x) { x.disclosures[0].index = 2; }),
            verdict::malformed);
  EXPECT_EQ(after([](auto& x) {
              x.disclosures[0].values = {1 + 5e-7, 0};
            }),
            verdict::malformed); // Above its largest value.
  EXPECT_EQ(after([](auto& x) {
              x.disclosures[0].values = {0.5, 0.5 - 5e-7};
            }),
            std::nullopt);
}

TEST(screen, a_disclosure_without_a_sum_is_bounded_as_well) {
  for (const double good : {1.0, 8.0})
    EXPECT_EQ(after([good](auto& x) {
                x.disclosures = {{1, {good}}};
              }),
              std::nullopt);
  for (const double bad : {0.0, 9.0, no_number, infinity})
    EXPECT_EQ(after([bad](auto& x) {
                x.disclosures = {{1, {bad}}};
              }),
              verdict::malformed)
      << bad;
}

TEST(screen, discloses_each_thing_once_and_in_order) {
  using list = std::vector<messages::disclosed_values>;
  const messages::disclosed_values mixture{0, {0.25, 0.75}}, rank{1, {2}};
  for (const auto& good : {list{}, list{rank}, list{mixture, rank}})
    EXPECT_EQ(after([&](auto& x) { x.disclosures = good; }), std::nullopt);
  for (const auto& bad : {list{mixture, mixture}, list{rank, mixture},
                          list{mixture, rank, mixture}, list{rank, rank}})
    EXPECT_EQ(after([&](auto& x) { x.disclosures = bad; }), verdict::malformed);
}

TEST(screen, lists_what_was_chosen_as_different_whole_numbers) {
  const std::array declared{disclosure{.name = "request",
                                       .count_max = 2,
                                       .min = 0,
                                       .max = 4,
                                       .chosen_of = "model"}};
  const auto is_sound = [&](std::vector<double> values) {
    auto x = sound();
    x.disclosures = {{0, std::move(values)}};
    return discloses_soundly(x, declared);
  };
  EXPECT_TRUE(is_sound({4, 0}));
  EXPECT_TRUE(is_sound({3}));
  const std::vector<std::vector<double>> wrong{{},   {1, 1},    {0.5},      {5},
                                               {-1}, {0, 1, 2}, {no_number}};
  for (const auto& values : wrong)
    EXPECT_FALSE(is_sound(values));
}

TEST(screen, discloses_no_more_reals_than_the_limit) {
  const auto most = limits::disclosed_reals_max;
  const auto count_max = static_cast<std::uint32_t>(most);
  const std::array declared{disclosure{.name = "a", .count_max = count_max},
                            disclosure{.name = "b", .count_max = count_max}};
  const screening_rules rules{.blocks = &blocks, .disclosures = declared};
  auto x = sound();
  x.disclosures = {{0, std::vector<double>(most - 1)}, {1, {0}}};
  EXPECT_EQ(screen(x, examples, rules), std::nullopt);
  x.disclosures[1].values.push_back(0);
  EXPECT_EQ(screen(x, examples, rules), verdict::malformed);
}

TEST(screen, the_norm_of_all_deltas_together_is_clipped) {
  const double norm = std::sqrt(1 + 4 + 9 + 16.0);
  EXPECT_EQ(after(nothing, norm * 1.0001), std::nullopt);
  EXPECT_EQ(after(nothing, norm * 0.9999), verdict::malformed);
}

TEST(screen, a_loss_is_a_number_of_some_sense) {
  for (const double bad : {no_number, infinity, 1.1e12, -1.7e308})
    EXPECT_EQ(after([bad](auto& x) { x.loss = bad; }), verdict::malformed);
}

TEST(split, gives_each_line_its_part_and_the_visit) {
  const auto parts =
    split(sound(), examples, {.blocks = &blocks, .disclosures = {}});
  ASSERT_EQ(parts.size(), 2u);
  for (const auto& part : parts) {
    EXPECT_EQ(part.visit, (visit_id{{3}, {7}}));
    EXPECT_EQ(part.round, round_number{4});
    EXPECT_EQ(part.lines_total, 2u);
    EXPECT_EQ(part.loss, 0.5);
  }
  EXPECT_EQ(parts[0].line, line_id{1});
  EXPECT_EQ(parts[0].base, version{5});
  ASSERT_EQ(parts[0].blocks.size(), 2u);
  EXPECT_EQ(parts[0].blocks[1].block, block_id{2});
  EXPECT_EQ(parts[1].base, version{9});
  EXPECT_EQ(parts[1].blocks[0].rank, 1u);
  EXPECT_EQ(*parts[1].blocks[0].delta, (std::vector<float>{3, 4}));
}

TEST(split, finds_the_share_of_a_weight_where_the_rule_has_shares) {
  auto shared_out = blocks;
  shared_out.blocks[0].weight = weight_rule::examples_times_share;
  shared_out.blocks[1].weight = weight_rule::one_times_share;
  auto offer = sound();
  offer.blocks[0].weight = 10;
  offer.blocks[1].weight = 0.25;
  const auto parts =
    split(offer, examples, {.blocks = &shared_out, .disclosures = {}});
  EXPECT_EQ(parts[0].blocks[0].share, 0.2);
  EXPECT_EQ(parts[0].blocks[1].share, 0.25);
  EXPECT_EQ(parts[1].blocks[0].share, 1); // Its rule has none.
}

} // namespace troupe::actors::screen_test
