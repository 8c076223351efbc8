#pragma once

#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "node/task/materials.hpp"

namespace troupe::node {

/// Exit codes are an interface: deploy/ and scripts branch on them.
enum class exit_code : int {
  ok = 0,
  failed = 1,
  usage = 2,
  configuration = 3,
  unreachable = 4,
  refused = 5,
  data = 6,
  interrupted = 130, ///< A service that SIGTERM ends in order ends with 0.
};

struct streams {
  std::ostream& out; ///< What was asked for; may be piped.
  std::ostream& err; ///< Everything else.
};

/// Why a command failed. `code` is for programs, the rest for people.
struct failure {
  std::string code;
  std::string what;
  std::string why = {};
  std::string hint = {};
};

/// As a sentence on `err`, or as {"success": false, "error": …} on `out`.
/// Returns `how`, so that a command can end with it.
exit_code report(const failure& x, exit_code how, bool json, streams io);

/// The same for an error of the rooms below, with the exit code that fits it.
exit_code report(const error& x, bool json, streams io);

using arguments = std::span<const std::string>;

/// One subcommand of `troupe`. A test calls `run` like any function.
struct command {
  std::string name;
  std::string synopsis;
  std::function<exit_code(arguments args, streams io)> run;
};

/// What only the executable can say. Empty functions: there is nothing to say.
struct host_facts {
  std::function<result<std::string>()> arithmetic =
    {}; ///< The libraries that train.
  std::function<result<std::string>()> fingerprint =
    {};                        ///< What the bits of training
                               ///< depend on.
  model_maker make_model = {}; ///< Of every kind that needs torch.
};

/// Empty where there is nothing to say.
std::string fingerprint_of(const host_facts& x);

/// The commands that need nothing to train with.
std::vector<command> basic_commands(const host_facts& known);

/// Runs the command that `args[0]` names, or says which there are.
exit_code dispatch(std::span<const command> all, arguments args, streams io);

} // namespace troupe::node
