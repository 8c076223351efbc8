#pragma once

// Runs that are held to each other by what they come to, versions and what
// clients keep, and to their records.

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "models/client_state.hpp"
#include "models/families.hpp"
#include "node/config/config.hpp"
#include "node/replay/replay.hpp"
#include "node/run/run.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

using kept_states =
  std::map<client_id, std::shared_ptr<const models::client_state>>;
using preparation =
  std::function<result<node::workload>(const node::experiment&)>;

/// What a run came to.
struct ended_run {
  std::string folder;
  std::string digest;
  kept_states kept;
};

/// Of all who have made a visit.
inline void expect_kept(const kept_states& found, const kept_states& wanted) {
  std::size_t some = 0;
  for (const auto& [client, state] : wanted) {
    if (state->visits == 0)
      continue;
    ++some;
    const auto own = found.find(client);
    ASSERT_NE(own, found.end()) << "client " << client.value;
    EXPECT_EQ(*own->second, *state) << "client " << client.value;
  }
  EXPECT_GT(some, 0u);
}

inline ended_run ended(const node::experiment& x, const preparation& prepared) {
  const auto work = prepared(x);
  if (!work) {
    ADD_FAILURE() << work.error().context;
    return {};
  }
  const auto files = std::make_shared<actors::memory_vault>();
  const auto done =
    finished(x, {.make_model = no_model, .files = files, .work = &*work});
  return {
    .folder = done.folder, .digest = done.digest, .kept = files->states()};
}

/// From its record and its configuration. Where all that was done is in the
/// record, so is what clients keep.
inline void expect_computed_again(const ended_run& x,
                                  const preparation& prepared,
                                  bool to_its_end) {
  const std::filesystem::path folder{x.folder};
  for (const auto* name : {"versions", "model.safetensors"})
    std::filesystem::remove_all(folder / name);
  const auto loaded = node::load_config(folder / "config.toml");
  ASSERT_TRUE(loaded) << loaded.error().context;
  const auto work = prepared(loaded->x);
  ASSERT_TRUE(work) << work.error().context;
  const bool offers = work->method.offers;
  kept_states found;
  const auto done = node::replay(loaded->x, folder,
                                 {.make_model = no_model,
                                  .note = [](const auto&) {},
                                  .show = [](const auto&) {},
                                  .work = &*work,
                                  .look =
                                    [&](const node::replayed_moment& y) {
                                      found = y.there.states;
                                      return result<void>{};
                                    }});
  ASSERT_TRUE(done) << done.error().context;
  const auto& [equal, total, first] = done->digests;
  EXPECT_FALSE(first) << done->differs_at << ": " << first->what;
  EXPECT_EQ(equal, total);
  EXPECT_EQ(total > 0, offers);
  // What is beside an adapter is averaged factor by factor as well.
  for (const auto& block : work->blocks->blocks)
    if (work->task->adapters && block.family == models::attention_family) {
      EXPECT_TRUE(done->product_gap.contains(block.name)) << block.name;
    }
  const auto& scores = done->scores;
  EXPECT_FALSE(scores.first) << scores.first->what;
  EXPECT_EQ(scores.equal, scores.total);
  EXPECT_EQ(scores.total > 0, !offers && loaded->x.evaluate_every > 0);
  EXPECT_TRUE(done->ended);
  if (to_its_end)
    expect_kept(found, x.kept);
}

} // namespace troupe::test
