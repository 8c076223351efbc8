#include "actors/transport/handshakes.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "actors/transport/refusals.hpp"

namespace troupe::transport {
namespace {

TEST(handshakes, end_where_it_is_known_that_they_will_not_be) {
  using enum connection_event;
  EXPECT_EQ(handshakes{true}.heard(refused), turned_away::our_key);
  EXPECT_EQ(handshakes{false}.heard(unlike), turned_away::their_key);
  handshakes with_keys{true};
  EXPECT_FALSE(with_keys.heard(broken));
  EXPECT_FALSE(with_keys.heard(lost));
  EXPECT_FALSE(with_keys.heard(broken));
  EXPECT_EQ(with_keys.heard(broken), turned_away::their_key);
  handshakes plain{false};
  for (int i = 0; i < 9; ++i)
    EXPECT_FALSE(plain.heard(broken)) << "something is there, and may be back";
  handshakes been_there{true};
  EXPECT_FALSE(been_there.heard(made));
  for (int i = 0; i < 9; ++i)
    EXPECT_FALSE(been_there.heard(i % 2 ? broken : unlike));
  EXPECT_EQ(been_there.heard(refused), turned_away::our_key);
  handshakes left{true};
  (void)left.heard(made);
  for (int i = 0; i < 9; ++i)
    EXPECT_FALSE(left.heard(broken));
  EXPECT_EQ(left.heard(broken), turned_away::by_another);
  EXPECT_FALSE(left.heard(broken)) << "it is said once";
  (void)left.heard(made);
  for (int i = 0; i < 19; ++i)
    EXPECT_FALSE(left.heard(broken, 2)) << "with two keys, twice as often";
  EXPECT_EQ(left.heard(broken, 2), turned_away::by_another);
}

// Of a server that hangs, or that cannot read yet whom it lets in.
TEST(handshakes, that_end_late_say_nothing_of_keys) {
  using enum connection_event;
  using std::chrono::seconds;
  handshakes testee{true};
  for (int i = 0; i < 9; ++i) {
    const seconds at{10 * i};
    EXPECT_EQ(testee.timed(begun, at), begun);
    EXPECT_FALSE(testee.heard(begun));
    EXPECT_EQ(testee.timed(broken, at + seconds{5}), unanswered);
    EXPECT_FALSE(testee.heard(unanswered));
  }
  EXPECT_EQ(testee.timed(begun, seconds{100}), begun);
  EXPECT_EQ(testee.timed(broken, seconds{101}), broken);
  EXPECT_EQ(testee.timed(made, seconds{105}), made);
}

TEST(refusals, are_all_counted_and_said_once_a_minute) {
  refusals all;
  std::vector<std::string> lines;
  all.add(refusal::no_key, instant{});
  all.say_to([&](const std::string& x) { lines.push_back(x); });
  for (int i = 0; i < 120; ++i)
    all.add(refusal::no_key, std::chrono::seconds{i});
  all.add(refusal::denied_key, std::chrono::seconds{1});
  EXPECT_EQ(all.all()[0], 121U);
  const std::vector<std::string> wanted{"refused: no_key, 2 in all",
                                        "refused: no_key, 62 in all",
                                        "refused: denied_key, 1 in all"};
  EXPECT_EQ(lines, wanted);
}

} // namespace
} // namespace troupe::transport
