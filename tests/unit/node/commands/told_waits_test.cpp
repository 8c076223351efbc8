// What people are told who wait for longer than two seconds.

#include <gmock/gmock.h>

#include <chrono>
#include <fstream>
#include <future>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "node/commands/command.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node::told_waits_test {

namespace {

/// A stream that somebody waits for: until it has a line.
class heard_lines final : public std::stringbuf {
public:
  bool wait() {
    return first_.get_future().wait_for(std::chrono::seconds{20})
           == std::future_status::ready;
  }

private:
  int sync() override {
    if (!is_heard_)
      first_.set_value();
    is_heard_ = true;
    return 0;
  }

  std::promise<void> first_;
  bool is_heard_ = false;
};

} // namespace

// It is as slow as that takes, and so is no other test.
TEST(told_waits, are_of_a_configuration_that_is_checked) {
  const test::scratch_folder at;
  const auto file = at.path() + "/run.toml";
  std::ofstream{file} << "rounds = 1\n[data]\nkind = 'modes'\n"
                         "rows_per_class = 60\ndimension = 2\n"
                         "[model]\nkind = 'mlp'\n";
  heard_lines heard;
  std::ostringstream out;
  std::ostream err{&heard};
  bool is_told = false;
  const auto all =
    basic_commands({.make_model = [&](const model_options&, const auto&)
                      -> result<std::unique_ptr<models::objective>> {
      is_told = heard.wait();
      return fail(errc::unsupported, "there is no torch here");
    }});
  const std::vector<std::string> args{"check-config", file, "--format", "json"};
  EXPECT_EQ(dispatch(all, args, {out, err}), exit_code::configuration);
  EXPECT_TRUE(is_told) << "who waits for a configuration hears nothing";
  EXPECT_THAT(heard.str(), ::testing::MatchesRegex(
                             "(reading what the run is made of: [0-9]+ s\n)+"));
  EXPECT_THAT(out.str(), ::testing::StartsWith("{"));
}

} // namespace troupe::node::told_waits_test
