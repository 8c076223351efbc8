// How many versions a second become durable? One line, one block, eight visits
// to a version; the folder is TMPDIR's, so set that to the disk in question.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <filesystem>
#include <vector>

#include "actors/record/sqlite_store.hpp"

namespace troupe::actors {

namespace {

/// @param state Size of the block, and whether a commit waits for the disk.
void commits(benchmark::State& state) {
  const auto folder =
    std::filesystem::temp_directory_path() / "troupe_store_bench";
  std::filesystem::remove_all(folder);
  const auto durable =
    state.range(1) != 0 ? durability::full : durability::relaxed;
  auto made = make_sqlite_store({.folder = folder, .durable = durable});
  std::vector<float> values(static_cast<std::size_t>(state.range(0)), 1.0f);
  messages::commit_requested x{.line = {1},
                               .head = {},
                               .round = {},
                               .blocks = {{.block = {1},
                                           .values = share(values),
                                           .moments = {},
                                           .digest = {}}},
                               .merged = {}};
  if (!made || !(*made)->begin(x.line, x.blocks))
    return state.SkipWithError("the store cannot be made");
  for (auto _ : state) {
    x.head = next(x.head);
    values.front() =
      static_cast<float>(x.head.value); // Or all would be one file.
    x.blocks.front().values = share(values);
    x.merged.clear();
    for (std::uint64_t client = 1; client <= 8; ++client)
      x.merged.push_back({{client}, {x.head.value}});
    if (!(*made)->commit(x))
      return state.SkipWithError("a commit failed");
  }
  state.SetItemsProcessed(state.iterations());
  made->reset();
  std::filesystem::remove_all(folder);
}

BENCHMARK(commits)
  ->ArgNames({"floats", "full"})
  ->ArgsProduct({{1000, 160000}, {0, 1}})
  ->UseRealTime();

} // namespace

} // namespace troupe::actors

BENCHMARK_MAIN();
