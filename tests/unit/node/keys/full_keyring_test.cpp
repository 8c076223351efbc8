// A folder of keys on a disk that takes nothing for a while.

#include "node/keys/keyring.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "core/hex.hpp"
#include "node/keys/pair.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/small_disk.hpp"

namespace troupe::node {
namespace {

// There is room again some time, and whoever was refused would have ended.
TEST(full_keyring, refuses_no_line_whose_use_cannot_be_stored_just_now) {
  constexpr std::int64_t now = 1'764'000'000'000;
  const test::scratch_folder scratch;
  const std::filesystem::path folder{scratch.path()};
  const keyring keys{folder};
  const auto alice = draw_pair().open;
  permit what;
  what.name = "alice";
  const auto line = keys.invite(what, now);
  ASSERT_TRUE(line);
  {
    const test::small_disk full{0};
    const auto done = keys.enrol(line->open, alice, now);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, errc::storage_failure) << done.error().context;
  }
  // The line is used up, and nothing can take the place of the key's file.
  const auto own = folder / "allowed" / to_hex(alice);
  std::filesystem::create_directories(own);
  const auto done = keys.enrol(line->open, alice, now);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::storage_failure) << done.error().context;
  std::filesystem::remove(own);
  EXPECT_TRUE(keys.enrol(line->open, alice, now));
  EXPECT_EQ(keys.standing(alice, now), key_standing::allowed);
}

} // namespace
} // namespace troupe::node
