#include "node/watch/wait_notice.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <sstream>
#include <string>
#include <vector>

namespace troupe::test::wait_notice_test {

TEST(wait_notice, says_what_is_waited_for_again_and_again) {
  std::promise<void> twice;
  std::vector<std::string> said;
  {
    const node::wait_notice testee{"reading",
                                   [&](const std::string& line) {
                                     said.push_back(line);
                                     if (said.size() == 2)
                                       twice.set_value();
                                   },
                                   std::chrono::milliseconds{1}};
    ASSERT_EQ(twice.get_future().wait_for(std::chrono::seconds{10}),
              std::future_status::ready)
      << "nobody hears what is waited for";
  }
  EXPECT_EQ(said[0].substr(0, said[0].size() - 3), "reading: ");
  EXPECT_EQ(said[0].substr(said[0].size() - 2), " s");
}

TEST(wait_notice, says_what_is_being_done_now) {
  std::promise<void> heard;
  bool is_heard = false;
  {
    node::wait_notice testee{"reading",
                             [&](const std::string& line) {
                               if (!is_heard && line.starts_with("writing: "))
                                 heard.set_value();
                               is_heard = line.starts_with("writing: ");
                             },
                             std::chrono::milliseconds{1}};
    testee.now("writing");
    ASSERT_EQ(heard.get_future().wait_for(std::chrono::seconds{10}),
              std::future_status::ready)
      << "nobody hears of what comes next";
  }
}

TEST(wait_notice, ends_with_what_people_wait_for) {
  std::ostringstream said;
  const auto found = node::told_while(said, "reading", [](const auto& now) {
    now("writing");
    return 7;
  });
  EXPECT_EQ(found, 7);
  EXPECT_EQ(said.str(), "");
  node::lines_to(said)("reading: 2 s");
  EXPECT_EQ(said.str(), "reading: 2 s\n");
}

TEST(wait_notice, says_nothing_of_what_is_done_at_once) {
  std::vector<std::string> said;
  const auto began = steady_now();
  {
    const node::wait_notice testee{
      "reading", [&](const std::string& line) { said.push_back(line); },
      std::chrono::hours{1}};
  }
  EXPECT_TRUE(said.empty());
  EXPECT_LT(steady_now() - began, std::chrono::minutes{1});
}

} // namespace troupe::test::wait_notice_test
