// What options may say.

#include "node/commands/command_line.hpp"

#include <gmock/gmock.h>

#include <sstream>
#include <string>
#include <vector>

#include "node/commands/data.hpp"
#include "node/commands/eval.hpp"
#include "node/commands/report.hpp"

namespace troupe::node::command_line_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

TEST(command_line, shows_an_example_of_texts_where_they_are_something_else) {
  std::ostringstream out, err;
  const std::vector<std::string> args{"--help"};
  EXPECT_EQ(data(args, {out, err}), exit_code::ok);
  EXPECT_THAT(out.str(), HasSubstr("Of texts:\n  troupe data tokens "));
  EXPECT_EQ(eval_command({}, args, {out, err}), exit_code::ok);
  EXPECT_THAT(out.str(), HasSubstr("Of texts:\n  troupe eval --model "));
  std::ostringstream other;
  EXPECT_EQ(report_command(args, {other, err}), exit_code::ok);
  EXPECT_THAT(other.str(), Not(HasSubstr("Of texts")));
}

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
