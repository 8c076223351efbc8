// Who looks at a run while it is computed again.

#include <string>
#include <utility>
#include <vector>

#include "node/task/workload.hpp"
#include "tests/support/recorded_runs.hpp"

namespace troupe::test {

namespace {

class watched_replay : public recorded_run {
protected:
  using moments = std::vector<node::replayed_moment>;

  result<node::replay_summary>
  watch(const fs::path& folder,
        std::function<result<void>(const node::replayed_moment&)> look,
        const node::workload* work = nullptr) {
    const auto loaded = node::load_config(folder / "config.toml");
    EXPECT_TRUE(loaded) << loaded.error().context;
    return node::replay(loaded->x, folder,
                        {.make_model = no_model,
                         .note = [](const std::string&) {},
                         .show = [](const node::replay_progress&) {},
                         .work = work,
                         .look = std::move(look)});
  }

  moments seen(const fs::path& folder) {
    moments all;
    const auto done = watch(folder, [&](const node::replayed_moment& x) {
      all.push_back(x);
      return result<void>{};
    });
    EXPECT_TRUE(done) << done.error().context;
    return all;
  }
};

std::vector<std::uint64_t>
heads_of(const std::vector<node::replayed_moment>& x) {
  std::vector<std::uint64_t> all;
  for (const auto& y : x)
    all.push_back(y.head.value);
  return all;
}

} // namespace

TEST_F(watched_replay, shows_what_the_run_evaluated_and_its_end) {
  EXPECT_EQ(heads_of(seen(record({}))), (std::vector<std::uint64_t>{2, 4, 6}));
  EXPECT_EQ(heads_of(seen(record({"rounds=5"}))),
            (std::vector<std::uint64_t>{2, 4, 5}));
  EXPECT_EQ(heads_of(seen(record({"evaluate_every=0"}))),
            (std::vector<std::uint64_t>{6}));
  // There are no versions where nothing is merged.
  EXPECT_EQ(heads_of(seen(record({"method=local"}))),
            (std::vector<std::uint64_t>{0}));
}

TEST_F(watched_replay, shows_values_of_that_version_and_states_of_that_moment) {
  const auto folder = record({"method=ditto"});
  const auto x = node::load_config(folder / "config.toml");
  ASSERT_TRUE(x) << x.error().context;
  const auto work = node::prepare(x->x, no_model);
  ASSERT_TRUE(work) << work.error().context;
  std::map<std::uint64_t, std::string> recorded;
  for (const auto& line : read_lines(folder / "events.jsonl"))
    if (const auto event = ordered_json::parse(line);
        event["event"] == "version")
      recorded[event["version"].get<std::uint64_t>()] =
        event["digests"][0].get<std::string>();
  std::uint64_t visits = 0;
  const auto done = watch(
    folder,
    [&](const node::replayed_moment& now) -> result<void> {
      const auto& shown = now.there.versions.front();
      EXPECT_EQ(shown.base, now.head);
      EXPECT_EQ(models::to_hex(models::digest_of(
                  *work->blocks->find(shown.block), *shown.values)),
                recorded[now.head.value]);
      visits = 0;
      for (const auto& [client, state] : now.there.states)
        visits += state->visits;
      // Four clients a round, and each has what its visit left it.
      EXPECT_EQ(visits, 4 * now.head.value);
      return {};
    },
    &*work);
  ASSERT_TRUE(done) << done.error().context;
  EXPECT_EQ(visits, 24u);
  EXPECT_EQ(done->digests.equal, done->digests.total);
}

TEST_F(watched_replay, ends_where_a_look_fails) {
  const auto done = watch(record({}), [](const node::replayed_moment&) {
    return result<void>{fail(errc::unsupported, "there is nothing to see")};
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().context, "there is nothing to see");
}

TEST_F(watched_replay, needs_a_record) {
  const auto folder = record({});
  fs::remove(folder / "events.jsonl");
  const auto done = watch(folder, {});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().context,
              HasSubstr("the folder of a run with events = true would do"));
}

TEST_F(watched_replay, shows_no_end_of_a_run_that_differs) {
  const auto folder = record({});
  auto all = read_lines(folder / "events.jsonl");
  const auto line = places_of("version", all).back();
  auto event = ordered_json::parse(all[line - 1]);
  event["digests"][0] = "x";
  all[line - 1] = event.dump();
  write_lines(folder / "events.jsonl", all);
  EXPECT_EQ(heads_of(seen(folder)), (std::vector<std::uint64_t>{2, 4}));
}

} // namespace troupe::test
