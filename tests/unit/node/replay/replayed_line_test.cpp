#include "node/replay/replayed_line.hpp"

#include <gtest/gtest.h>

namespace troupe::node {

namespace {

std::vector<messages::merged_block> block_of(float x) {
  return {{.block = {1}, .values = share({x}), .moments = {}, .digest = {}}};
}

} // namespace

TEST(replayed_line, keeps_old_versions_only_as_long_as_a_visit_may_need_them) {
  replayed_line line{{}, block_of(0)};
  const auto make_versions = [&](int count) {
    for (int i = 0; i < count; ++i)
      line.adopt(block_of(static_cast<float>(line.head().value + 1)), {});
  };
  const auto values = [&](std::uint64_t x) { return *line.find({x})->at(0); };
  make_versions(20);
  const auto early = line.open();
  make_versions(10);
  const auto late = line.open();
  make_versions(10);
  EXPECT_EQ(line.head(), version{40});
  EXPECT_LE(early, version{20});
  EXPECT_EQ(values(20), std::vector{20.f});
  EXPECT_FALSE(line.find({early.value - 1}));
  line.release(early);
  make_versions(1);
  EXPECT_FALSE(line.find({20}));
  EXPECT_EQ(values(30), std::vector{30.f});
  line.release(late);
  make_versions(1);
  EXPECT_FALSE(line.find({30}));
  EXPECT_EQ(values(42), std::vector{42.f});
}

} // namespace troupe::node
