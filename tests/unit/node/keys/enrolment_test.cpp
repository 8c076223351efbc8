#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "node/keys/keyring.hpp"
#include "node/keys/pair.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node {
namespace {

constexpr std::int64_t moment = 1'764'000'000'000; // 2025-11-24T16:00:00Z

permit called(std::string name) {
  permit out;
  out.name = std::move(name);
  return out;
}

// Whoever has a line may name any key, which says nothing of whose it is.
TEST(enrolment, renames_no_key) {
  const test::scratch_folder scratch;
  const keyring keys{scratch.path()};
  const auto alice = draw_pair().open;
  const auto bob = draw_pair().open;
  auto what = called("bob");
  what.numbers = 20;
  ASSERT_TRUE(keys.allow(bob, what));
  const auto line = keys.invite(called("alice"), moment);
  ASSERT_TRUE(line);
  EXPECT_FALSE(keys.enrol(line->open, bob, moment));
  auto over = what; // Nor when it has run out.
  over.expires_ms = moment;
  ASSERT_TRUE(keys.allow(bob, over));
  EXPECT_FALSE(keys.enrol(line->open, bob, moment));
  ASSERT_TRUE(keys.allow(bob, what));
  const auto found = keys.find(bob, moment);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "bob");
  EXPECT_EQ(found->numbers, 20U);
  EXPECT_TRUE(keys.enrol(line->open, alice, moment))
    << "it is not used up by that";
}

} // namespace
} // namespace troupe::node
