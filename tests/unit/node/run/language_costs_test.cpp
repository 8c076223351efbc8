// What a summary says of factors inside a language model.

#include "node/run/language_costs.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "policies/catalogue.hpp"
#include "tests/support/paper_model.hpp"

namespace troupe::test {

namespace {

/// GPT-2 of 124 million weights.
models::language_spec gpt2() {
  return {.kind = models::architecture_kind::gpt2,
          .vocabulary = 50'257,
          .context = 1024,
          .width = 768,
          .layers = 12,
          .heads = 12,
          .key_heads = 12,
          .head_width = 64,
          .inner = 3072,
          .attention_bias = true,
          .inner_bias = true};
}

node::workload work_of(const std::string& method,
                       std::vector<std::uint32_t> experts = {}) {
  models::local_task task{.method = *policies::find_recipe(method),
                          .blocks = {},
                          .how = {},
                          .clients = {}};
  const paper_model model{gpt2()};
  auto plans = models::inner_plans_for(task.method, model, {}, {});
  EXPECT_TRUE(plans) << plans.error().context;
  task.inside = std::move(*plans);
  task.experts = std::move(experts);
  auto blocks = std::make_shared<models::layout>();
  for (const std::size_t size : {20u, 3u})
    blocks->blocks.emplace_back().size = size;
  return {.method = task.method,
          .blocks = blocks,
          .initial = {},
          .task = std::make_shared<const models::local_task>(task),
          .make_trainer = {},
          .life = {},
          .language = gpt2(),
          .window = 128};
}

std::string said(const std::optional<troupe::json>& x, const char* key) {
  const auto* found = x ? x->find(key) : nullptr;
  return found ? found->dump() : "none";
}

node::run_summary ended(std::uint64_t visits, std::uint64_t up,
                        std::uint64_t down) {
  node::run_summary x;
  x.visits = visits;
  x.bytes_up = up;
  x.bytes_down = down;
  x.peak_memory_bytes = 7;
  return x;
}

} // namespace

TEST(language_costs_in, says_what_experts_cost_and_what_was_measured) {
  const auto found =
    node::language_costs_in(work_of("comigs"), ended(4, 400, 1000));
  EXPECT_EQ(said(found, "bytes_per_value"), "2");
  EXPECT_EQ(said(found, "tokens"), "128");
  EXPECT_EQ(said(found, "clients"),
            R"([{"experts":2,)"
            R"("values":{"expert":737280,"attention":442368,"router":18432},)"
            R"("router":{"bytes":36864,"operations":4718592,"share":0.0125},)"
            R"("sent":{"bytes":1474560,"averaged":2949120,"saved":0.5},)"
            R"("sent_with_attention":{"bytes":2359296,"averaged":3833856,)"
            R"("saved":0.3846153846153846}}])");
  const auto* measured = found->find("measured");
  ASSERT_NE(measured, nullptr);
  EXPECT_EQ(measured->find("bytes_up_per_visit")->number(), 100);
  EXPECT_EQ(measured->find("bytes_down_per_visit")->number(), 250);
  EXPECT_EQ(measured->find("peak_memory_bytes")->number(), 7);
  // Beside 23 values, of four bytes as they travel.
  EXPECT_EQ(measured->find("frame_bytes_up_per_visit")->number(), 8);
  EXPECT_EQ(measured->find("frame_bytes_down_per_visit")->number(), 158);
}

TEST(language_costs_in, says_nothing_of_frames_where_not_all_values_went_by) {
  const auto found =
    node::language_costs_in(work_of("comigs"), ended(4, 364, 368));
  const auto* measured = found->find("measured");
  ASSERT_NE(measured, nullptr);
  EXPECT_EQ(measured->find("frame_bytes_up_per_visit"), nullptr);
  EXPECT_EQ(measured->find("frame_bytes_down_per_visit")->number(), 0);
}

TEST(language_costs_in, says_it_once_of_each_number_of_experts) {
  const auto found =
    node::language_costs_in(work_of("comigs", {4, 2, 4, 2}), {});
  const auto* clients = found->find("clients");
  ASSERT_TRUE(clients && clients->items());
  ASSERT_EQ(clients->items()->size(), 2u);
  EXPECT_EQ(clients->items()->front().find("experts")->number(), 2);
  EXPECT_EQ(clients->items()->back().find("experts")->number(), 4);
}

TEST(language_costs_in, says_what_adapters_cost) {
  const auto found = node::language_costs_in(work_of("pf2lora"), {});
  EXPECT_EQ(said(found, "clients"), "none");
  EXPECT_EQ(said(found, "adapters"),
            R"({"sent":294912,"kept":73728,"head":0,"total":368640})");
}

TEST(language_costs_in,
     is_none_where_nothing_stands_inside_or_all_is_averaged) {
  EXPECT_FALSE(node::language_costs_in(work_of("fedavg_lora"), {}));
  EXPECT_FALSE(node::language_costs_in(work_of("fedavg"), {}));
  auto other = work_of("comigs");
  other.language.reset();
  EXPECT_FALSE(node::language_costs_in(other, {}));
}

} // namespace troupe::test
