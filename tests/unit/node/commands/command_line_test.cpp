// What options may say.

#include "node/commands/command_line.hpp"

#include <gmock/gmock.h>

#include <sstream>
#include <string>
#include <vector>

namespace troupe::node::command_line_test {
namespace {

using ::testing::HasSubstr;

/// What is refused of `--size said`; empty: nothing.
std::string refusal(const std::string& said) {
  command_line line{{"cut", "Cuts.", "cut --size 2"}};
  double size = 0;
  line.add("--size", &size, "how much", {.above_zero = true});
  const std::vector<std::string> args{"--size", said};
  std::ostringstream out, err;
  const auto end = line.parse(args, {out, err});
  EXPECT_EQ(end.value_or(exit_code::usage), exit_code::usage);
  return end ? err.str() : "";
}

} // namespace

TEST(command_line, takes_no_number_that_is_none_for_one_above_zero) {
  for (const auto* good : {"0.5", "1e3"})
    EXPECT_EQ(refusal(good), "");
  for (const auto* bad : {"nan", "inf"})
    EXPECT_THAT(refusal(bad), HasSubstr("'" + std::string{bad}
                                        + "' is no finite number; one above "
                                          "0 would do"));
  for (const auto* bad : {"0", "-1", "-inf"})
    EXPECT_NE(refusal(bad), "") << bad;
}

} // namespace troupe::node::command_line_test
