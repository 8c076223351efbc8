#include "node/keys/denials.hpp"

#include <gtest/gtest.h>

#include <set>

namespace troupe::node {
namespace {

using namespace std::chrono_literals;

constexpr key_hash ann{1};
constexpr key_hash ben{2};

using keys = std::set<key_hash>;

TEST(denials, are_said_after_a_second_look_and_once) {
  denials testee;
  EXPECT_EQ(testee.look({ann, ben}, {ann, ben}, 1s), keys{});
  EXPECT_FALSE(testee.is_in_doubt());
  EXPECT_EQ(testee.look({ann, ben}, {ben}, 2s), keys{});
  EXPECT_TRUE(testee.is_in_doubt());
  EXPECT_EQ(testee.look({ann, ben}, {ben}, 2s + denials::second_look - 1ms),
            keys{});
  EXPECT_EQ(testee.look({ann, ben}, {ben}, 2s + denials::second_look),
            keys{ann});
  EXPECT_FALSE(testee.is_in_doubt());
  EXPECT_EQ(testee.look({ann, ben}, {ben}, 9s), keys{});
  // It is allowed again, and denied again.
  EXPECT_EQ(testee.look({ann, ben}, {ann, ben}, 10s), keys{});
  EXPECT_EQ(testee.look({ann, ben}, {ben}, 11s), keys{});
  EXPECT_EQ(testee.look({ann, ben}, {ben}, 12s), keys{ann});
}

// Its file was edited: it was gone, and is there again.
TEST(denials, are_none_where_one_look_finds_a_key_good) {
  denials testee;
  for (const auto at : {1s, 3s, 5s}) {
    EXPECT_EQ(testee.look({ann}, {}, at), keys{});
    EXPECT_EQ(testee.look({ann}, {ann}, at + 1s), keys{});
    EXPECT_FALSE(testee.is_in_doubt());
  }
}

TEST(denials, begin_anew_with_who_is_let_in_or_was_forgotten) {
  denials testee;
  EXPECT_EQ(testee.look({ann, ben}, {}, 1s), keys{});
  testee.is_good(ann);
  EXPECT_EQ(testee.look({ann}, {}, 2s), keys{});
  EXPECT_EQ(testee.look({ann, ben}, {}, 3s), keys{ann});
  EXPECT_EQ(testee.look({ann, ben}, {}, 4s), keys{ben});
  // Between two looks it was allowed and denied.
  testee.is_good(ann);
  EXPECT_EQ(testee.look({ann, ben}, {}, 5s), keys{});
  EXPECT_EQ(testee.look({ann, ben}, {}, 6s), keys{ann});
}

// Of those whose files can be asked for by name.
TEST(denials, of_some_say_nothing_of_others) {
  denials testee;
  EXPECT_EQ(testee.look({ann, ben}, {ben}, 1s), keys{});
  EXPECT_EQ(testee.look({ann, ben}, {ben}, 2s), keys{ann});
  EXPECT_EQ(testee.look_at({ben}, {ben}, 3s), keys{});
  EXPECT_EQ(testee.look_at({ben}, {}, 4s), keys{});
  EXPECT_EQ(testee.look_at({ben}, {}, 5s), keys{ben});
  EXPECT_EQ(testee.look({ann, ben}, {}, 6s), keys{}) << "both were said";
}

} // namespace
} // namespace troupe::node
