// What a round of DDOME and of its baselines sends, counted on encoded frames:
// with five anchors and five common clients of two experts each, 15 models and
// ten gates each way, where FedAvg sends ten models.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/support/small_runs.hpp"

namespace troupe::test::ddome_traffic_test {

namespace {

constexpr std::string_view hundred_clients = R"(
name = "traffic"
method = "ddome"
rounds = 4
evaluate_every = 0
workers = 2
ledger = "memory"
events = false
[data]
kind = "clusters"
[clients]
clients = 100
clients_per_round = 10
[pace]
mode = "sync"
[model]
kind = "regression"
hidden = [200, 200]
[training]
local_steps = 1
batch_size = 0
learning_rate = 0.001
[options]
gate_width = 16
)";

constexpr double rounds = 4;

/// Models and gates that a round sends one way.
struct copies {
  double models = 0;
  double gates = 0;
};

class ddome_traffic : public ::testing::Test {
protected:
  /// Expects both ways to be within a hundredth of so many copies.
  void expect(const overrides& changes, copies per_round) const {
    const auto end =
      finished(configured(hundred_clients, changes, scratch_.path()));
    const auto values = [&](const char* family) {
      const auto found = end.values.find(family);
      return found == end.values.end() ? 0.0
                                       : static_cast<double>(found->second);
    };
    constexpr double one_model = 10 * 200 + 200 + 200 * 200 + 200 + 200 * 3 + 3;
    const auto due =
      4 * (per_round.models * one_model + per_round.gates * values("gate"));
    const auto up = static_cast<double>(end.bytes_up) / rounds;
    const auto down = static_cast<double>(end.bytes_down) / rounds;
    const auto how = changes.empty() ? std::string{"ddome"} : changes.front();
    EXPECT_EQ(end.visits, 10 * static_cast<std::uint64_t>(rounds)) << how;
    EXPECT_NEAR(up, due, 0.01 * due) << how;
    EXPECT_NEAR(down, due, 0.01 * due) << how;
  }

private:
  scratch_folder scratch_;
};

} // namespace

TEST_F(ddome_traffic, is_fifteen_experts_and_ten_gates) {
  expect({}, {.models = 15, .gates = 10});
}

TEST_F(ddome_traffic, is_what_anchors_and_requests_say) {
  expect({"options.anchors_per_round=3"}, {.models = 3 + 7 * 2, .gates = 10});
  expect({"options.anchors=0", "options.anchors_per_round=0"},
         {.models = 20, .gates = 10});
  expect({"options.chosen=1"}, {.models = 10, .gates = 10});
  expect({"options.chosen=5"}, {.models = 5 + 5 * 5, .gates = 10});
}

// As many as `fedmix` of five, below.
TEST_F(ddome_traffic, of_all_experts_without_anchors_is_that_of_fedmix) {
  expect(
    {"options.chosen=5", "options.anchors=0", "options.anchors_per_round=0"},
    {.models = 50, .gates = 10});
}

TEST_F(ddome_traffic, of_baselines_is_what_their_publications_count) {
  expect({"method=fedavg"}, {.models = 10});
  expect({"method=scaffold"}, {.models = 20});
  expect({"method=fedmix"}, {.models = 20, .gates = 10});
  expect({"method=fedmix", "options.experts=5"}, {.models = 50, .gates = 10});
  expect({"method=average_ensemble"}, {.models = 20});
}

} // namespace troupe::test::ddome_traffic_test
