// What a run's rules make of its configuration.

#include <gtest/gtest.h>

#include "actors/transport/silence.hpp"
#include "node/config/policies_of.hpp"
#include "node/join/join.hpp"
#include "node/run/listening.hpp"
#include "node/run/plan.hpp"
#include "node/run/rules.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

node::experiment paced(const overrides& changes) {
  return configured(quadratic_run, changes, {});
}

} // namespace

// Who returns in the middle of a visit asks for the version that it began with.
TEST(rules, keep_what_visits_of_clients_that_live_on_may_be_based_on) {
  const auto loose = paced({"mode=fedbuff", "versions=9", "staleness_max=50"});
  EXPECT_EQ(node::versions_kept(loose, true), 52U);
  EXPECT_EQ(node::versions_kept(loose, false), 20U);
  const auto mixed = paced({"mode=fedasync", "versions=9", "staleness_max=50"});
  EXPECT_EQ(node::versions_kept(mixed, false), 52U);
  const auto rounds = paced({"mode=sync", "staleness_max=50"});
  EXPECT_EQ(node::versions_kept(rounds, true), 20U);
}

TEST(rules, keep_as_many_versions_as_is_asked_for_and_what_open_visits_need) {
  const overrides few = {"retention=1", "versions=9", "staleness_max=5"};
  const auto kept = [&few](const char* mode, bool outlived) {
    auto all = few;
    all.emplace_back(mode);
    return node::versions_kept(paced(all), outlived);
  };
  EXPECT_EQ(kept("mode=fedbuff", false), 1U);
  EXPECT_EQ(kept("mode=fedbuff", true), 7U);
  EXPECT_EQ(kept("mode=fedasync", false), 7U);
  EXPECT_EQ(kept("mode=sync", false), 2U);
  EXPECT_EQ(kept("mode=sync", true), 2U);
  EXPECT_EQ(node::versions_kept(
              paced({"mode=fedbuff", "versions=9", "retention=99"}), true),
            99U);
}

TEST(rules, invite_as_many_together_as_a_round_or_its_slots_take) {
  EXPECT_EQ(node::invited_together(paced(
              {"clients=10", "clients_per_round=4", "over_selection=1.5"})),
            6U);
  EXPECT_EQ(node::invited_together(paced(
              {"mode=fedbuff", "versions=9", "clients=10", "concurrency=3"})),
            3U);
}

// Within one process whole versions are shared, and nothing is lost.
TEST(rules, have_clients_elsewhere_keep_what_they_fetched) {
  const auto x = paced({"clock=wall"});
  const auto work = node::prepare(x, no_model);
  ASSERT_TRUE(work) << work.error().context;
  const auto lines = std::make_shared<actors::line_cache>();
  const auto far = node::talk_from_afar(x, *work, {3}, {9}, lines);
  EXPECT_EQ(far.cache, lines);
  EXPECT_EQ(far.run, messages::run_id{9});
  EXPECT_LT(far.resend_after, node::talk_of(x, *work, {3}).resend_after);
  EXPECT_FALSE(node::talk_of(x, *work, {3}).cache);
}

// Three beats. Within one process there is neither.
TEST(rules, have_clients_elsewhere_beat_and_gone_when_they_are_silent) {
  using std::chrono::seconds;
  const auto x = paced({"clock=wall"});
  const auto work = node::prepare(x, no_model);
  ASSERT_TRUE(work) << work.error().context;
  EXPECT_EQ(node::talk_from_afar(x, *work, {3}, {9}, {}).beat_every,
            instant{seconds{30}});
  EXPECT_EQ(node::plan_from_afar(x, *work).attendance.silence_max,
            instant{seconds{90}});
  EXPECT_EQ(node::talk_of(x, *work, {3}).beat_every, instant{});
  EXPECT_EQ(node::plan_of(x, *work).attendance.silence_max, instant{});
  const auto patient = paced({"clock=wall", "silence_max=600"});
  EXPECT_EQ(node::plan_from_afar(patient, *work).attendance.silence_max,
            instant{seconds{600}});
  EXPECT_EQ(node::plan_of(patient, *work).attendance.silence_max, instant{});
}

// At the end it is scored in any case.
TEST(rules, have_what_was_set_aside_scored_where_stop_watches_it) {
  const auto x = paced({});
  const auto work = node::prepare(x, no_model);
  ASSERT_TRUE(work) << work.error().context;
  EXPECT_FALSE(node::plan_of(x, *work).score_aside);
  const auto stops = paced({"stop.metric=loss", "stop.patience=3"});
  EXPECT_TRUE(node::plan_of(stops, *work).score_aside);
}

// What a global model is worth is not theirs to say.
TEST(rules, have_clients_say_it_where_stop_is_of_clients_alone) {
  EXPECT_FALSE(node::watches_clients(paced({}).stop));
  EXPECT_FALSE(node::watches_clients(
    paced({"stop.metric=accuracy", "stop.patience=3"}).stop));
  for (const std::string of : {"mean", "worst"})
    EXPECT_TRUE(node::watches_clients(
      paced({"stop.metric=per_client." + of, "stop.patience=3"}).stop));
}

// There is nothing else to score, whether or not clients keep anything.
TEST(rules, have_clients_scored_each_time_where_nobody_offers) {
  const auto x = paced({});
  auto work = node::prepare(x, no_model);
  ASSERT_TRUE(work) << work.error().context;
  EXPECT_FALSE(node::plan_of(x, *work).score_clients);
  work->method.offers = false; // As of `pretrained`.
  EXPECT_TRUE(node::plan_of(x, *work).score_clients);
}

TEST(rules, have_who_hears_nothing_for_three_beats_dial_anew) {
  EXPECT_EQ(transport::silence::options{}.open_max,
            instant{3 * node::beat_every});
}

TEST(rules, have_large_messages_cross_in_pieces_of_256_kib) {
  EXPECT_EQ(node::listening_options{}.chunk_bytes, 262'144U);
  EXPECT_EQ(node::join_context{}.chunk_bytes, 262'144U);
}

} // namespace troupe::test
