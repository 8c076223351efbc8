// Runs of all methods that learn a language model, over streams of tokens and
// over labelled rows: what the laws of tests/unit/node/run and of
// tests/unit/node/replay say of those that learn any model.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "policies/catalogue.hpp"
#include "tests/support/ended_runs.hpp"
#include "tests/support/every_language_method.hpp"
#include "tests/support/language_runs.hpp"
#include "tests/support/plain_run.hpp"

namespace troupe::test::language_run_test {

namespace {

class language_run : public texts_of_users,
                     public ::testing::WithParamInterface<language_case> {
protected:
  static const recipe& method() {
    return *policies::find_recipe(GetParam().method);
  }

  static bool is_labelled() {
    return GetParam().task != models::text_task::language;
  }

  node::experiment described(const overrides& more) const {
    auto changes = of_language_method(method());
    changes.push_back("data.path="
                      + (is_labelled() ? labelled_users() : users()));
    if (is_labelled())
      add(of_labelled(GetParam().task), changes);
    if (GetParam().has_own_heads)
      changes.push_back("options.head=private");
    add(more, changes);
    return configured(language_run_text, changes, at.path() + "/runs");
  }

  static void add(const overrides& more, overrides& to) {
    to.insert(to.end(), more.begin(), more.end());
  }

  static ended_run go(const node::experiment& x) {
    return ended(x, prepared);
  }

  /// What ends a run under this pace: `updates`, for a method of a line for
  /// each client has none whose versions could be counted.
  static overrides length_of(pace_kind pace, const std::string& clock) {
    overrides x{"mode=" + std::string{policies::to_string(pace)},
                "clock=" + clock};
    if (by_round(pace) && (pace == pace_kind::sync || !method().offers))
      return x;
    x.push_back("rounds=0");
    x.push_back(method().offers ? "updates=6" : "time_budget=0.5");
    return x;
  }

  static void expect_again(const ended_run& x, bool to_its_end) {
    expect_computed_again(x, prepared, to_its_end);
  }

  void expect_again_in_every_pace(const overrides& more) const {
    for (const auto pace : {pace_kind::sync, pace_kind::semisync,
                            pace_kind::fedbuff, pace_kind::fedasync}) {
      if (policies::standing_of(method(), pace) == standing::refused)
        continue;
      for (const std::string clock : {"virtual", "wall"}) {
        auto changes = length_of(pace, clock);
        SCOPED_TRACE(::testing::PrintToString(changes));
        // Then a replay looks at what there is once, at the end.
        add({"events=true", "evaluate_every=0"}, changes);
        add(more, changes);
        expect_again(go(described(changes)), pace == pace_kind::sync);
      }
    }
  }
};

const overrides of_plain_attention{"options.plain_attention=true",
                                   "options.adapted=blocks",
                                   "options.attention_rank=1"};

INSTANTIATE_TEST_SUITE_P(all, language_run, ::testing::ValuesIn(stream_cases()),
                         [](const auto& x) { return x.param.name; });
INSTANTIATE_TEST_SUITE_P(labelled, language_run,
                         ::testing::ValuesIn(labelled_cases()),
                         [](const auto& x) { return x.param.name; });

} // namespace

TEST_P(language_run, under_sync_is_the_plain_loop) {
  std::vector<overrides> variants(1); // As it is.
  if (find_option(method(), "attention") != nullptr)
    variants.push_back({"options.attention=private"});
  if (find_option(method(), "gate") != nullptr)
    variants.push_back({"options.gate=noisy"});
  if (may_be_rounded(method()))
    variants.push_back({"merge.wire=bf16"});
  if (find_option(method(), "plain_attention") != nullptr)
    variants.push_back(of_plain_attention);
  // Ranks of attention have no room in keys of one head.
  if (method().name == "pf2lora"
      || find_option(method(), "attention_rank") == nullptr)
    variants.push_back({"model.architecture=llama", "model.key_heads=1"});
  for (const auto& more : variants) {
    const auto x = described(more);
    const auto work = prepared(x);
    ASSERT_TRUE(work) << work.error().context;
    expect_plain_run(x, *work, ::testing::PrintToString(more));
  }
}

TEST_P(language_run, learns_the_same_with_any_workers_clock_and_events) {
  const auto wanted = go(described({}));
  for (const overrides& more : {overrides{"evaluate_every=0"},
                                overrides{"workers=1", "clock=wall",
                                          "events=true", "evaluate_every=2"}}) {
    SCOPED_TRACE(::testing::PrintToString(more));
    const auto found = go(described(more));
    EXPECT_EQ(found.digest, wanted.digest);
    expect_kept(found.kept, wanted.kept);
  }
}

TEST_P(language_run, of_noisy_gates_learns_the_same_and_is_computed_again) {
  if (find_option(method(), "gate") == nullptr)
    return;
  const overrides noisy{"options.gate=noisy"};
  const auto wanted = go(described(noisy));
  const auto found =
    go(described({"options.gate=noisy", "workers=1", "clock=wall",
                  "events=true", "evaluate_every=2"}));
  EXPECT_EQ(found.digest, wanted.digest);
  expect_kept(found.kept, wanted.kept);
  if (method().offers) {
    EXPECT_NE(go(described({})).digest, wanted.digest);
  }
  expect_again(
    go(described({"options.gate=noisy", "events=true", "evaluate_every=0"})),
    true);
}

TEST_P(language_run, of_rounded_values_learns_the_same_and_is_computed_again) {
  if (!may_be_rounded(method()))
    return;
  const auto wanted = go(described({"merge.wire=bf16"}));
  const auto found = go(described({"merge.wire=bf16", "workers=1", "clock=wall",
                                   "events=true", "evaluate_every=2"}));
  EXPECT_EQ(found.digest, wanted.digest);
  expect_kept(found.kept, wanted.kept);
  EXPECT_NE(go(described({})).digest, wanted.digest);
  expect_again(
    go(described({"merge.wire=bf16", "events=true", "evaluate_every=0"})),
    true);
}

// Of those that train all weights: replay_test, over any model.
TEST_P(language_run, is_computed_again_in_every_pace_and_under_both_clocks) {
  if (models::has_adapters(method()))
    expect_again_in_every_pace({});
}

TEST_P(language_run, of_plain_attention_is_computed_again_in_every_pace) {
  if (find_option(method(), "plain_attention") != nullptr && !is_labelled())
    expect_again_in_every_pace(of_plain_attention);
}

// They change what clients keep, and make no version.
TEST_P(language_run, is_looked_at_behind_its_last_visits) {
  if (!method().finish.value.empty())
    expect_again(go(described({"events=true", "evaluate_every=1"})), true);
}

// Where nothing is sent no digest would tell.
TEST_P(language_run, that_sends_nothing_is_held_to_what_clients_are_worth) {
  if (!method().offers)
    expect_again(go(described({"events=true", "evaluate_every=2"})), true);
}

} // namespace troupe::test::language_run_test
