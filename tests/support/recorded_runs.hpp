#pragma once

// Runs whose records are computed again, as they are and with something done to
// them.

#include <fstream>
#include <functional>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "node/replay/replay.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using ::testing::HasSubstr;

using lines = std::vector<std::string>;

inline lines read_lines(const fs::path& path) {
  std::ifstream file{path};
  lines all;
  for (std::string line; std::getline(file, line);)
    all.push_back(line);
  return all;
}

inline void write_lines(const fs::path& path, const lines& all) {
  std::ofstream file{path};
  for (const auto& line : all)
    file << line << '\n';
}

/// The lines, counted from 1, of events of this kind.
inline std::vector<std::size_t> places_of(std::string_view kind,
                                          const lines& all) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (ordered_json::parse(all[i])["event"] == kind)
      places.push_back(i + 1);
  return places;
}

class recorded_run : public ::testing::Test {
protected:
  /// A finished run of which only the record and the configuration are left.
  fs::path record(overrides changes, const std::string& fingerprint = {}) {
    changes.push_back("events=true");
    const auto x = configured(quadratic_run, changes, scratch_.path());
    const auto done = node::run(
      x, {.make_model = no_model, .fingerprint = [&] { return fingerprint; }});
    EXPECT_TRUE(done) << done.error().context;
    const fs::path folder{done->folder};
    for (const auto* name : {"versions", "ledger.sqlite", "model.safetensors"})
      fs::remove_all(folder / name);
    return folder;
  }

  result<node::replay_summary> replay(const fs::path& folder,
                                      const std::string& fingerprint = {}) {
    notes_.clear();
    const auto loaded = node::load_config(folder / "config.toml");
    EXPECT_TRUE(loaded) << loaded.error().context;
    return node::replay(loaded->x, folder,
                        {.make_model = no_model,
                         .fingerprint = fingerprint,
                         .note = [&](const auto& x) { notes_.push_back(x); },
                         .show = [](const auto&) {}});
  }

  void expect_equal(const overrides& changes) {
    const auto done = replay(record(changes));
    const auto what = ::testing::PrintToString(changes);
    ASSERT_TRUE(done) << what << done.error().context;
    const auto& [equal, total, first] = done->digests;
    EXPECT_FALSE(first) << what << done->differs_at << ": " << first->what;
    EXPECT_EQ(equal, total) << what;
    // These alone have neither offers nor versions.
    EXPECT_EQ(total == 0, changes[0] == "method=local"
                            || changes[0] == "method=common_expert"
                            || changes[0] == "method=pretrained")
      << what;
  }

  /// Replays the folder's record after this was done to it.
  result<node::replay_summary>
  replay_changed(const fs::path& folder,
                 const std::function<void(lines&)>& change) {
    auto all = read_lines(folder / "events.jsonl");
    const auto before = all;
    change(all);
    write_lines(folder / "events.jsonl", all);
    auto done = replay(folder);
    write_lines(folder / "events.jsonl", before);
    return done;
  }

  /// One key of one line.
  result<node::replay_summary> replay_with(const fs::path& folder,
                                           std::size_t line, const char* key,
                                           const ordered_json& value) {
    return replay_changed(folder, [&](lines& all) {
      auto event = ordered_json::parse(all[line - 1]);
      event[key] = value;
      all[line - 1] = event.dump();
    });
  }

  std::string refusal(const result<node::replay_summary>& x) {
    if (x)
      return "accepted";
    EXPECT_EQ(x.error().code, errc::invalid_data);
    return x.error().context;
  }

  scratch_folder scratch_;
  std::vector<std::string> notes_;
};

} // namespace troupe::test
