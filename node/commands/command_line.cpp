#include "node/commands/command_line.hpp"

#include <algorithm>
#include <ostream>

namespace troupe::node {

command_line::command_line(const words& x) : app_(x.says, "troupe " + x.name) {
  app_.footer("Example:\n  troupe " + x.example);
  app_.add_option("--format", format_, "text, or json for programs")
    ->check(CLI::IsMember({"text", "json"}));
}

void command_line::add_config(bool required) {
  app_.add_option("FILE", file_, "the configuration, in TOML")
    ->required(required);
  app_
    .add_option("--set", overrides_,
                "key=value, in place of what the file says")
    ->allow_extra_args(false)
    ->take_all();
}

std::optional<exit_code> command_line::parse(arguments args, streams io) {
  // CLI11 takes its arguments from the back.
  std::vector<std::string> reversed(args.rbegin(), args.rend());
  try {
    app_.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    io.out << app_.help();
    return exit_code::ok;
  } catch (const CLI::ParseError& e) {
    const bool json = std::ranges::find(args, "json") != args.end()
                      || std::ranges::find(args, "--format=json") != args.end();
    return report({.code = "usage",
                   .what = e.what(),
                   .hint = app_.get_name() + " --help shows an example"},
                  exit_code::usage, json, io);
  }
  return std::nullopt;
}

} // namespace troupe::node
