#include "node/join/known_servers.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "actors/transport/key_choice.hpp"
#include "core/hex.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node {
namespace {

namespace fs = std::filesystem;
using keys = std::vector<public_key>;

constexpr std::int64_t now = 1'764'000'000'000;
constexpr public_key first{1};
constexpr public_key second{2};
constexpr public_key third{3};

class known_servers_test : public ::testing::Test {
protected:
  fs::path file_of(const public_key& x) const {
    return fs::path{scratch.path()} / "servers" / to_hex(x);
  }

  test::scratch_folder scratch;
  known_servers known{scratch.path()};
};

TEST_F(known_servers_test, has_both_until_one_is_met) {
  EXPECT_EQ(known.keys(first, now), keys{first});
  ASSERT_TRUE(known.told(first, second, now + 1000));
  EXPECT_EQ(known.keys(first, now), (keys{first, second}));
  EXPECT_EQ(known.keys(second, now), keys{second});
  ASSERT_TRUE(known.met(first, second));
  EXPECT_EQ(known.keys(first, now), keys{second});
}

TEST_F(known_servers_test, takes_no_key_beyond_its_time) {
  ASSERT_TRUE(known.told(first, second, now + 1000));
  EXPECT_EQ(known.keys(first, now + 999), (keys{first, second}));
  EXPECT_EQ(known.keys(first, now + 1000), keys{second});
}

TEST_F(known_servers_test, finds_the_newest_from_any_that_it_was_told_of) {
  ASSERT_TRUE(known.told(first, second, now + 1000));
  ASSERT_TRUE(known.met(first, second));
  ASSERT_TRUE(known.told(second, third, now + 1000));
  EXPECT_EQ(known.keys(first, now), (keys{second, third}));
  EXPECT_EQ(known.keys(second, now), (keys{second, third}));
  ASSERT_TRUE(known.met(second, third));
  EXPECT_EQ(known.keys(first, now), keys{third});
}

TEST_F(known_servers_test, ends_where_keys_come_back) {
  ASSERT_TRUE(known.told(first, second, now + 1000));
  ASSERT_TRUE(known.told(second, first, now + 1000));
  const auto found = known.keys(first, now);
  ASSERT_TRUE(found);
  EXPECT_LE(found->size(), transport::key_choice::most);
  ASSERT_TRUE(known.met(first, second));
  ASSERT_TRUE(known.met(second, first));
  EXPECT_TRUE(known.keys(first, now));
}

TEST_F(known_servers_test, says_which_file_is_damaged) {
  ASSERT_TRUE(known.told(first, second, now + 1000));
  EXPECT_EQ(fs::status(file_of(first)).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  const auto refused = [&](const std::string& text) {
    std::ofstream{file_of(first)} << text;
    const auto found = known.keys(first, now);
    return found ? "" : found.error().context;
  };
  EXPECT_EQ(refused("troupe server 1\n"),
            file_of(first).string() + ": it ends in line 2");
  EXPECT_EQ(refused("troupe server 1\nnext 12\nuntil now\nend\n"),
            file_of(first).string()
              + ": this is no key with a moment; without the file the server "
                "is known by the key before alone");
  EXPECT_EQ(
    refused("troupe server 1\nnext " + to_hex(second) + "\nuntil soon\nend\n"),
    file_of(first).string()
      + ": this is no key with a moment; without the file the server "
        "is known by the key before alone");
  EXPECT_EQ(
    refused("troupe server 1\nnext " + to_hex(second) + "\nuntil now\nend\n"),
    "");
}

} // namespace
} // namespace troupe::node
