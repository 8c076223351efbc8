// Runs whose clients, or whose data, are elsewhere.

#include <gmock/gmock.h>

#include "tests/support/config_text.hpp"

namespace troupe::node {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

} // namespace

TEST(config, of_data_elsewhere_says_what_it_must_be) {
  const std::string all = "rounds = 1\n[data]\nkind = 'elsewhere'\n";
  const auto x = read(all + "inputs = [1, 28, 28]\nclasses = 10");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_THAT(x->x.data.inputs, ElementsAre(1, 28, 28));
  EXPECT_EQ(x->x.merge.samples_max, 1u << 20);
  EXPECT_EQ(write_config(read(write_config(x->x))->x), write_config(x->x));
  EXPECT_THAT(refusal(all + "classes = 10"), HasSubstr("as in [1, 28, 28]"));
  EXPECT_THAT(refusal(all + "inputs = [30]"), HasSubstr("needs 'classes'"));
  EXPECT_THAT(refusal(all + "inputs = [16777216, 16777216]\nclasses = 2"),
              HasSubstr("2^24 values at most"));
  const auto whole = all + "inputs = [30]\nclasses = 2\n";
  EXPECT_THAT(refusal(whole, {"held_out=1"}),
              HasSubstr("'held_out' must be 0"));
  EXPECT_THAT(refusal(whole, {"alpha=0.1"}), HasSubstr("deals nothing"));
  EXPECT_THAT(refusal(whole, {"stop.metric=accuracy", "stop.target=0.5"}),
              HasSubstr("no data here to stop by"));
  EXPECT_EQ(refusal(whole, {"stop.metric=per_client.mean", "stop.target=0.5"}),
            "");
}

TEST(config, expects_no_more_clients_than_there_are) {
  EXPECT_EQ(refusal("rounds = 1\nclients = 20\nexpected = 20"), "");
  EXPECT_THAT(refusal("rounds = 1\nclients = 20\nheld_out = 1\nexpected = 20"),
              HasSubstr("'expected' must be at most 19"));
}

// Below two beats one that is late would end a client that is there.
TEST(config, says_how_long_a_client_may_be_silent) {
  EXPECT_EQ(read("rounds = 1")->x.clients.silence_max, 0);
  const auto x = read("rounds = 1\n[clients]\nsilence_max = 600");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->x.clients.silence_max, 600);
  EXPECT_THAT(write_config(x->x), HasSubstr("silence_max = 600"));
  EXPECT_THAT(write_config(read("rounds = 1")->x),
              ::testing::Not(HasSubstr("silence_max")));
  EXPECT_THAT(refusal("rounds = 1\nsilence_max = 59"),
              HasSubstr("'silence_max' must be a number from 60 to 86400"));
  EXPECT_THAT(refusal("rounds = 1\nsilence_max = 86401"),
              HasSubstr("found 86401"));
}

TEST(config, of_a_served_run_leaves_out_what_simulations_have) {
  const std::string one = "rounds = 1\n";
  auto x = read(one + "[devices]\ndrop_out = 0.5\n[availability]\nshare = 0.1",
                {"scenario=/nowhere"});
  ASSERT_TRUE(x) << x.error().context;
  leave_out_simulation(*x);
  EXPECT_EQ(write_config(x->x), write_config(read(one)->x));
  const std::string why =
    " has no effect: it is of simulations, and a run that is served is none";
  EXPECT_THAT(x->notes, UnorderedElementsAre(
                          "a.toml:5: 'availability.share' has no effect: it "
                          "needs kind = \"windows\"",
                          "a.toml:3: 'devices.drop_out'" + why,
                          "--set scenario=/nowhere: 'scenario'" + why));
}

} // namespace troupe::node
