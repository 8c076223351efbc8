#pragma once

// A folder for stores, and versions that are easy to tell apart.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "actors/record/sqlite_store.hpp"

namespace troupe::actors {

namespace fs = std::filesystem;

inline const line_id one_line{1};

inline messages::merged_block block(std::uint64_t id, std::vector<float> values,
                                    std::vector<double> moments = {}) {
  messages::merged_block x{.block = {id},
                           .values = share(std::move(values)),
                           .moments = shared_moments{std::move(moments)},
                           .digest = {}};
  x.digest = models::digest_of(std::as_bytes(std::span{*x.values}));
  return x;
}

/// Version `n` of line 1: a small block and one of `size` values.
inline messages::commit_requested version_of(std::uint64_t n,
                                             std::size_t size = 100) {
  const auto x = static_cast<float>(n);
  return {.line = one_line,
          .head = {n},
          .round = {n},
          .blocks = {block(1, {x, -0.0f}),
                     block(2, std::vector<float>(size, x), {0.5 * x, 1e-300})},
          .merged = {{{3}, {n}}, {{7}, {2 * n}}}};
}

inline void expect_equal(const std::vector<messages::merged_block>& found,
                         const std::vector<messages::merged_block>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].block, wanted[i].block);
    EXPECT_EQ(*found[i].values, *wanted[i].values);
    EXPECT_TRUE(
      std::ranges::equal(found[i].moments.view(), wanted[i].moments.view()));
    EXPECT_EQ(found[i].digest, wanted[i].digest);
  }
}

class folder_test : public ::testing::Test {
protected:
  folder_test() {
    fs::remove_all(folder);
  }

  ~folder_test() override {
    fs::remove_all(folder);
  }

  sqlite_options options() const {
    return {.folder = folder,
            .durable = durability::relaxed,
            .retention = 3,
            .small_bytes_max = 64};
  }

  std::unique_ptr<store> opened() const {
    return opened(options());
  }

  static std::unique_ptr<store> opened(const sqlite_options& opts) {
    auto x = make_sqlite_store(opts);
    EXPECT_TRUE(x) << x.error().context;
    return x ? std::move(*x) : nullptr;
  }

  /// A store whose line 1 has reached `head`.
  std::unique_ptr<store> with_versions(std::uint64_t head) const {
    auto x = opened();
    EXPECT_TRUE(x->begin(one_line, version_of(0).blocks));
    for (std::uint64_t n = 1; n <= head; ++n)
      EXPECT_TRUE(x->commit(version_of(n)));
    return x;
  }

  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& x : fs::directory_iterator{folder / "versions"})
      all.push_back(x.path());
    return all;
  }

  std::string text_of(const char* name) const {
    std::ifstream in{folder / name};
    return {std::istreambuf_iterator<char>{in}, {}};
  }

  const fs::path folder = fs::path{::testing::TempDir()}
                          / ("troupe_store_" + std::to_string(getpid()));
};

} // namespace troupe::actors
