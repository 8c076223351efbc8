// Of a server's terms a process keeps no path, whether or not it would be read.

#include <string>

#include <gtest/gtest.h>

#include "node/join/task.hpp"

namespace troupe::node {
namespace {

constexpr const char* theirs = "/etc/passwd";

messages::terms_given naming_files() {
  const auto path = std::string{"path = \""} + theirs + '"';
  messages::terms_given out;
  out.config = {"rounds = 1",
                std::string{"init = \""} + theirs + '"',
                "[data]",
                "kind = \"synthetic\"",
                path,
                "[model]",
                "kind = \"mlp\"",
                path};
  return out;
}

TEST(read_terms, leaves_no_path_of_a_server) {
  experiment x;
  const auto wrong = read_terms({}, naming_files(), x);
  ASSERT_FALSE(wrong) << wrong->why;
  EXPECT_EQ(x.data.path, "");
  EXPECT_EQ(x.model.path, "") << "nothing of " << theirs;
  EXPECT_EQ(x.init, "");
}

TEST(read_terms, takes_the_paths_of_its_own_command_line) {
  join_context in;
  in.data = "here";
  in.model = "weights";
  experiment x;
  const auto wrong = read_terms(in, naming_files(), x);
  ASSERT_FALSE(wrong) << wrong->why;
  EXPECT_EQ(x.data.path, "here");
  EXPECT_EQ(x.model.path, "");
  EXPECT_EQ(x.init, "weights");
}

} // namespace
} // namespace troupe::node
