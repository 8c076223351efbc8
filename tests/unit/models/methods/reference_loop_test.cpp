// The plain loop is what the runtime is held against, so it is held against the
// kernels here: the same offers, merged twice by different lines of code.

#include "tests/support/reference_loop.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "core/random.hpp"
#include "kernels/robust.hpp"
#include "kernels/running_sum.hpp"

namespace troupe::test::reference_loop_test {

namespace {

using kernels::server_rule;

constexpr std::size_t size = 6;

/// Offers random values with random weights, known by client and visit.
class drawing_trainer : public models::one_by_one_trainer {
public:
  explicit drawing_trainer(bool half) : half_(half) {
    // nop
  }

  result<models::choice> choose(const models::visit_input& x) override {
    return models::choice{.chosen = {{2 + x.seed % 3}}, .disclosures = {}};
  }

  result<models::trained> train_one(const models::visit_input& x) override {
    models::trained out;
    random_stream random{x.seed};
    for (const auto& y : x.fetched) {
      // Half of the rows, from some clients, where rows are a prefix.
      const auto rows =
        half_ && x.visit.client.value % 2 == 0 ? size / 2 : size;
      std::vector<float> delta;
      for (std::size_t j = 0; j < rows; ++j)
        delta.push_back(static_cast<float>(random.normal()));
      out.parts.push_back({.block = y.block,
                           .rank = rows == size ? 0u : 1u,
                           .weight = 1 + 9 * random.uniform(),
                           .delta = share(std::move(delta))});
    }
    seen[x.visit.client] = out.parts;
    ++out.next.visits;
    return out;
  }

  result<models::evaluated> evaluate(const models::evaluation_input&) override {
    return models::evaluated{};
  }

  std::uint64_t examples(client_id) const override {
    return 1;
  }

  std::uint64_t steps(const models::visit_input&) const override {
    return 1;
  }

  std::map<client_id, std::vector<offered_block>> seen;

private:
  bool half_;
};

struct rule_case {
  const char* name;
  merge_rule merge;
  kernels::server_step server = {};
};

void PrintTo(const rule_case& x, std::ostream* out) {
  *out << x.name;
}

recipe one_block(merge_rule merge, std::uint32_t count = 1) {
  return {.name = "one block",
          .summary = {},
          .blocks = {{.name = "w", .count = count, .merge = merge, .rank = 2}},
          .legs = {{.fetch = {{"w"}}}},
          .roles = {{.procedure = {"any"}}}};
}

models::layout layout_of(const recipe& x) {
  return *models::make_layout(
    x, {{"w", {{"w", {2, static_cast<std::int64_t>(size / 2)}}}}},
    {.weight_max = 16});
}

class merge_in_the_loop : public ::testing::TestWithParam<rule_case> {};

constexpr kernels::server_step with(server_rule rule) {
  return {.rule = rule, .rate = 0.7};
}

INSTANTIATE_TEST_SUITE_P(
  models, merge_in_the_loop,
  ::testing::Values(
    rule_case{"mean", {}}, rule_case{"mean_slowly", {}, {.rate = 0.3}},
    rule_case{"momentum", {}, with(server_rule::momentum)},
    rule_case{"adam", {}, with(server_rule::adam)},
    rule_case{"yogi", {}, with(server_rule::yogi)},
    rule_case{"adagrad", {}, with(server_rule::adagrad)},
    rule_case{
      "sum_over", {.kind = merge_kind::sum_over}, with(server_rule::adam)},
    rule_case{"mix", {.kind = merge_kind::mix, .amount = 0.25}},
    rule_case{"replace", {.kind = merge_kind::replace}, {.rate = 0.5}},
    rule_case{"padded", {.kind = merge_kind::padded}},
    rule_case{"median", {.kind = merge_kind::median}, {.rate = 0.5}},
    rule_case{"trimmed", {.kind = merge_kind::trimmed_mean, .count = 1}},
    rule_case{"krum", {.kind = merge_kind::krum, .count = 1, .keep = 2}}),
  [](const auto& x) { return std::string{x.param.name}; });

std::vector<invited> cohort_of(std::uint64_t round) {
  std::vector<invited> result;
  for (std::uint64_t k = 1; k <= 5; ++k)
    result.push_back({.client = {k}, .seed = derive_seed(round, "visit", k)});
  return result;
}

/// One merge by the kernels, as the runtime makes it.
std::vector<float> merged_by_kernels(const std::vector<float>& base,
                                     const drawing_trainer& offers,
                                     const rule_case& rule,
                                     const kernels::grid& grid,
                                     std::vector<double>& moments) {
  const auto arithmetic = *kernels::make_backend({});
  std::vector<double> sum(size);
  double total = 0;
  std::vector<std::span<const float>> deltas;
  std::deque<std::vector<float>> whole; // What is in it stays where it is.
  for (const auto& [client, parts] : offers.seen) {
    auto& delta = whole.emplace_back(parts[0].delta.copy());
    while (delta.size() < size)
      delta.push_back(-base[delta.size()]); // Counts as a zero.
    deltas.push_back(delta);
    total += grid.snap(parts[0].weight);
    const kernels::term term{delta, parts[0].weight};
    EXPECT_TRUE(arithmetic->accumulate(std::span{&term, 1}, grid, sum));
  }
  auto step = rule.server;
  const std::vector<double> ones(deltas.size(), 1.0);
  const kernels::offer_set set{deltas, ones};
  switch (rule.merge.kind) {
    case merge_kind::sum_over: {
      std::vector<float> out(size);
      kernels::add_to_sum(base, sum, 20, moments, out);
      return out;
    }
    case merge_kind::mix:
      step = {.rate = rule.merge.amount};
      break;
    case merge_kind::replace:
      step = {};
      break;
    case merge_kind::median:
      EXPECT_TRUE(kernels::coordinate_median(set, sum));
      total = 1;
      break;
    case merge_kind::trimmed_mean:
      EXPECT_TRUE(kernels::trimmed_mean(set, rule.merge.count, sum));
      total = 1;
      break;
    case merge_kind::krum:
      EXPECT_TRUE(kernels::krum(set, rule.merge.count, rule.merge.keep, sum));
      total = 1;
      break;
    default:
      break;
  }
  moments.resize(size * static_cast<std::size_t>(step.moment_count()));
  std::vector<float> out(size);
  EXPECT_TRUE(arithmetic->finish(base, sum, total, step, moments, out));
  return out;
}

} // namespace

TEST_P(merge_in_the_loop, has_the_bits_of_the_kernels) {
  const auto& rule = GetParam();
  const auto method = one_block(rule.merge);
  const auto blocks = layout_of(method);
  drawing_trainer offers{rule.merge.kind == merge_kind::padded};
  reference_loop loop{
    offers,
    {.method = method,
     .blocks = blocks,
     .initial = {{"w", share({1.f, -2.f, 3.f, 0.1f, 0.f, 1e-3f})}},
     .server = rule.server,
     .admitted = 20}};
  std::vector<double> moments;
  for (std::uint64_t round = 1; round <= 4; ++round) {
    const auto before = loop.values("w").copy();
    ASSERT_TRUE(loop.round(cohort_of(round)));
    EXPECT_EQ(
      loop.values("w"),
      merged_by_kernels(before, offers, rule, blocks.blocks[0].grid, moments));
    EXPECT_EQ(loop.line({1}).back().moments, moments);
    EXPECT_NE(loop.values("w"), before);
  }
  EXPECT_EQ(loop.line({1}).size(), 5u);
  EXPECT_EQ(loop.line({1}).back().merged.front(), (visit_id{{1}, {4}}));
}

TEST(reference_loop, averages_statistics_without_the_servers_optimiser) {
  recipe method{.name = "buffers",
                .summary = {},
                .blocks = {{.name = "w.buffers"}},
                .legs = {{.fetch = {{"w.buffers"}}}},
                .roles = {{.procedure = {"any"}}}};
  const models::tensor_list shape{{"w", {static_cast<std::int64_t>(size)}}};
  const auto blocks =
    *models::make_layout(method, {{"w.buffers", shape}}, {.weight_max = 16});
  drawing_trainer offers{false};
  reference_loop loop{
    offers,
    {.method = method,
     .blocks = blocks,
     .initial = {{"w.buffers", share(std::vector<float>(size))}},
     .server = {.rule = server_rule::adam, .rate = 0.1}}};
  const invited alone{.client = {1}, .seed = 1};
  ASSERT_TRUE(loop.round({&alone, 1}));
  for (std::size_t j = 0; j < size; ++j)
    EXPECT_NEAR(loop.values("w.buffers")[j], (*offers.seen.at({1})[0].delta)[j],
                1e-6);
}

TEST(reference_loop, offers_what_the_last_leg_chose) {
  // The gate is fetched and chooses; the second leg fetches one expert of
  // three.
  recipe method{.name = "two legs",
                .summary = {},
                .blocks = {{.name = "gate"},
                           {.name = "w", .where = scope::expert, .count = 3}},
                .legs = {{.fetch = {{"gate"}}, .choice = {"any"}},
                         {.fetch = {{.family = "w", .chosen = true}}}},
                .roles = {{.procedure = {"any"}}}};
  const models::tensor_list shape{{"w", {static_cast<std::int64_t>(size)}}};
  const auto blocks = *models::make_layout(
    method, {{"gate", shape}, {"w", shape}}, {.weight_max = 16});
  std::map<std::string, shared_values> initial;
  for (const auto& x : blocks.blocks)
    initial[x.name] = share(std::vector<float>(size));
  drawing_trainer offers{false};
  reference_loop loop{offers,
                      {.method = method, .blocks = blocks, .initial = initial}};
  const invited first{.client = {1}, .seed = 4}; // Chooses block 2 + 4 % 3.
  ASSERT_TRUE(loop.round({&first, 1}));
  const auto& parts = offers.seen.at({1});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].block, block_id{1});
  EXPECT_EQ(parts[1].block, block_id{3});
  EXPECT_EQ(loop.line({2}).size(), 1u);
  EXPECT_EQ(loop.line({3}).size(), 2u);
}

TEST(reference_loop, a_line_without_offers_makes_no_version) {
  auto method = one_block({}, 4);
  method.roles = {{.procedure = {"any"}, .choice_fixed = true}};
  method.legs = {{.fetch = {{.family = "w", .chosen = true}}}};
  const auto blocks = layout_of(method);
  std::map<std::string, shared_values> initial;
  for (const auto& x : blocks.blocks)
    initial[x.name] = share(std::vector<float>(size));
  drawing_trainer offers{false};
  reference_loop loop{offers,
                      {.method = method, .blocks = blocks, .initial = initial}};
  const invited second{.client = {2}, .seed = 1};
  ASSERT_TRUE(loop.round({&second, 1}));
  EXPECT_EQ(loop.line({1}).size(), 1u);
  EXPECT_EQ(loop.line({2}).size(), 2u) << "client 2 is tied to the second";
  EXPECT_EQ(loop.line({3}).size(), 1u);
  EXPECT_EQ(loop.state({2})->visits, 1u);
  EXPECT_EQ(loop.state({1}), nullptr);
}

} // namespace troupe::test::reference_loop_test
