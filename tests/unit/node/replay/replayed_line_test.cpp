#include "node/replay/replayed_line.hpp"

#include <gtest/gtest.h>

namespace troupe::node {

namespace {

std::vector<messages::merged_block> block_of(float x) {
  return {{.block = {1}, .values = share({x}), .moments = {}, .digest = {}}};
}

} // namespace

TEST(replayed_line, keeps_old_versions_only_as_long_as_a_visit_needs_them) {
  replayed_line line{{}, block_of(0)};
  const auto make_versions = [&](int count) {
    for (int i = 0; i < count; ++i)
      line.adopt(block_of(static_cast<float>(line.head().value + 1)), {},
                 [](version x) { return x == version{30}; });
  };
  const auto values = [&](std::uint64_t x) {
    return line.find({x})->at(0).copy();
  };
  make_versions(20);
  line.hold({20});
  line.hold({20});
  make_versions(20);
  EXPECT_EQ(line.head(), version{40});
  EXPECT_EQ(values(20), std::vector{20.f});
  EXPECT_EQ(values(30), std::vector{30.f});
  EXPECT_FALSE(line.find({19}));
  EXPECT_FALSE(line.find({21}));
  line.release({20});
  make_versions(1);
  EXPECT_EQ(values(20), std::vector{20.f});
  line.release({20});
  make_versions(1);
  EXPECT_FALSE(line.find({20}));
  EXPECT_EQ(values(42), std::vector{42.f});
}

} // namespace troupe::node
