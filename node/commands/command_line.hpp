#pragma once

// What all subcommands share: --help with an example, --format, and refusals of
// what nobody asked for. The library behind it is in the .cpp alone: a command
// that includes it costs seconds to compile.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "node/commands/command.hpp"

namespace troupe::node {

class command_line {
public:
  struct words {
    std::string name;
    std::string says;
    std::string example;       ///< Without `troupe`; part of --help.
    std::string of_texts = {}; ///< One more, where texts are something else.
  };

  /// What an option may be besides its name and what it says.
  struct manner {
    bool required = false;
    std::vector<std::string> one_of = {};
    std::vector<std::string> excludes = {}; ///< Options that were added before.
    std::optional<std::pair<int, int>> range = {};
    bool above_zero = false;
    bool not_empty = false; ///< As of a shell's variable that is not set.
    bool shows_default = false;
    std::optional<char> delimiter = {}; ///< Between the values of a list.
    /// Its value where it stands alone: another is said as --option=VALUE.
    std::string bare = {};
  };

  /// Where what was said goes; it outlives `parse`. A flag is a bool.
  using target = std::variant<bool*, std::string*, double*, std::size_t*,
                              std::vector<double>*, std::vector<std::string>*,
                              std::optional<int>*, std::optional<double>*>;

  explicit command_line(const words& x);
  ~command_line();

  command_line(const command_line&) = delete;
  command_line& operator=(const command_line&) = delete;

  /// Adds --option or ARGUMENT.
  void add(const std::string& name, target to, const std::string& says,
           const manner& how);

  void add(const std::string& name, target to, const std::string& says) {
    add(name, to, says, manner{});
  }

  /// Adds FILE and --set.
  void add_config(bool required = true,
                  const std::string& says = "the configuration, in TOML");

  /// Adds --chunk-kib.
  void add_chunks(std::size_t* kib);

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
  struct library;

  std::unique_ptr<library> inner_;
  std::string format_ = "text";
  std::string file_;
  std::vector<std::string> overrides_;
};

} // namespace troupe::node
