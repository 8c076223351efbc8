// What CoMiGS sends, as it is counted and as it crosses the wire.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "core/json.hpp"
#include "models/language/costs.hpp"
#include "node/run/run.hpp"
#include "tests/support/language_runs.hpp"

namespace troupe::test::comigs_traffic_test {

namespace {

constexpr std::uint64_t visits = 4; ///< Two of each of two rounds.

struct traffic {
  std::uint64_t up = 0, down = 0;
  json costs;

  /// One way of a visit, as publications count them.
  std::uint64_t values() const {
    const auto* clients = costs.find("clients");
    if (clients == nullptr)
      return 0;
    return clients->items()
             ->front()
             .find("sent_with_attention")
             ->find("bytes")
             ->count()
             .value()
           / models::published_value_bytes;
  }
};

class comigs_traffic : public texts_of_users {
protected:
  traffic after(overrides changes) {
    changes.insert(changes.end(),
                   {"data.path=" + users(), "rounds=2", "evaluate_every=0"});
    const auto x = configured(language_run_text, changes, at.path() + "/runs");
    const auto work = prepared(x);
    if (!work) {
      ADD_FAILURE() << work.error().context;
      return {};
    }
    const auto done = node::run(x, {.make_model = no_model, .work = &*work});
    if (!done) {
      ADD_FAILURE() << done.error().context;
      return {};
    }
    EXPECT_FALSE(done->failed) << done->reason;
    EXPECT_EQ(done->visits, visits);
    return {.up = done->bytes_up,
            .down = done->bytes_down,
            .costs = done->language_costs.value_or(json{})};
  }

  traffic of_comigs(const std::string& attention, int rank,
                    const std::string& wire = "f32") {
    return after({"method=comigs", "options.attention=" + attention,
                  "options.rank=" + std::to_string(rank),
                  "options.router_every=3", "options.router_steps=2",
                  "merge.wire=" + wire});
  }

  traffic of_averaged(int rank) {
    return after(
      {"method=fedavg_lora", "options.rank=" + std::to_string(rank)});
  }
};

} // namespace

// Specification, 7.5: the generalist's factors, with those beside attention or
// without. Of a layer of width 8 these are 80 and 48 for each rank.
TEST_F(comigs_traffic, is_four_bytes_a_value_that_is_counted_and_frames) {
  for (const auto& [attention, of_a_rank] :
       {std::pair{"shared", 128u}, std::pair{"private", 80u}}) {
    SCOPED_TRACE(attention);
    const auto low = of_comigs(attention, 2), high = of_comigs(attention, 4);
    EXPECT_EQ(low.values(), 2 * of_a_rank);
    EXPECT_EQ(high.values(), 4 * of_a_rank);
    const auto bytes = [](const traffic& x) { return 4 * visits * x.values(); };
    ASSERT_GT(low.up, bytes(low));
    ASSERT_GT(low.down, bytes(low));
    // What is no value does not depend on how many there are.
    EXPECT_EQ(high.up - bytes(high), low.up - bytes(low));
    EXPECT_EQ(high.down - bytes(high), low.down - bytes(low));
    EXPECT_LT(low.up - bytes(low), 1000 * visits);
    const auto* measured = low.costs.find("measured");
    ASSERT_TRUE(measured);
    EXPECT_EQ(measured->find("bytes_up_per_visit")->number(),
              static_cast<double>(low.up) / visits);
    EXPECT_EQ(measured->find("bytes_down_per_visit")->number(),
              static_cast<double>(low.down) / visits);
  }
}

// What is no value is as it was.
TEST_F(comigs_traffic, is_two_bytes_a_value_where_they_are_bf16) {
  const auto full = of_comigs("shared", 4);
  const auto half = of_comigs("shared", 4, "bf16");
  const auto saved = 2 * visits * full.values();
  EXPECT_EQ(half.values(), full.values());
  EXPECT_EQ(full.up - half.up, saved);
  EXPECT_EQ(full.down - half.down, saved);
  EXPECT_EQ(half.costs.find("measured")->find("bytes_up_per_visit")->number(),
            static_cast<double>(half.up) / visits);
}

TEST_F(comigs_traffic, is_half_of_what_averages_both_experts) {
  const auto grown = [](const traffic& high, const traffic& low) {
    return std::pair{high.up - low.up, high.down - low.down};
  };
  const auto averaged = grown(of_averaged(4), of_averaged(2));
  const auto whole = grown(of_comigs("shared", 4), of_comigs("shared", 2));
  const auto expert = grown(of_comigs("private", 4), of_comigs("private", 2));
  EXPECT_EQ(expert.first, 4 * visits * 2 * 80);
  // Both ways, attention's apart.
  EXPECT_EQ(averaged.first - (whole.first - expert.first), 2 * expert.first);
  EXPECT_EQ(averaged.second - (whole.second - expert.second),
            2 * expert.second);
}

} // namespace troupe::test::comigs_traffic_test
