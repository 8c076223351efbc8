#pragma once

// What all subcommands share: --help with an example, --format, and refusals of
// what nobody asked for.

#include <optional>
#include <string>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "node/commands/command.hpp"

namespace troupe::node {

class command_line {
public:
  struct words {
    std::string name;
    std::string says;
    std::string example; ///< Without `troupe`; part of --help.
  };

  explicit command_line(const words& x);

  /// Where a command adds its own options before `parse`.
  CLI::App& app() noexcept {
    return app_;
  }

  /// Adds FILE and --set.
  void add_config(bool required = true);

  /// Returns how the command ends already: after --help, or wrong usage.
  std::optional<exit_code> parse(arguments args, streams io);

  bool json() const noexcept {
    return format_ == "json";
  }

  const std::string& file() const noexcept {
    return file_;
  }

  const std::vector<std::string>& overrides() const noexcept {
    return overrides_;
  }

private:
  CLI::App app_;
  std::string format_ = "text";
  std::string file_;
  std::vector<std::string> overrides_;
};

} // namespace troupe::node
