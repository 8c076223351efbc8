#include "node/commands/command.hpp"

#include <algorithm>
#include <exception>
#include <iomanip>
#include <new>
#include <ostream>

#include "core/json.hpp"
#include "core/text.hpp"
#include "node/commands/check_config.hpp"
#include "node/commands/data.hpp"
#include "node/commands/doctor.hpp"
#include "node/commands/export.hpp"
#include "node/commands/keys.hpp"
#include "node/commands/report.hpp"
#include "node/commands/trace.hpp"
#include "node/commands/version.hpp"
#include "node/commands/why.hpp"
#include "node/config/keys.hpp"

namespace troupe::node {

namespace {

struct meaning {
  const char* code;
  exit_code how;
};

meaning meaning_of(errc x) {
  switch (x) {
    case errc::invalid_argument:
      return {"invalid_argument", exit_code::usage};
    case errc::invalid_config:
      return {"invalid_config", exit_code::configuration};
    case errc::invalid_data:
      return {"invalid_data", exit_code::data};
    case errc::malformed_message:
      return {"malformed_message", exit_code::failed};
    case errc::malformed_values:
      return {"malformed_values", exit_code::failed};
    case errc::version_mismatch:
      return {"version_mismatch", exit_code::failed};
    case errc::unsupported:
      return {"unsupported", exit_code::failed};
    case errc::device_failure:
      return {"device_failure", exit_code::failed};
    case errc::storage_failure:
      return {"storage_failure", exit_code::failed};
    case errc::diverged:
      return {"diverged", exit_code::failed};
    case errc::unavailable:
      return {"unavailable", exit_code::failed};
  }
  return {"unknown", exit_code::failed};
}

void list(std::span<const command> all, std::ostream& out) {
  out << "troupe runs federated learning with experts, asynchronously.\n\n";
  for (const auto& x : all)
    out << "  troupe " << std::left << std::setw(14) << x.name << x.synopsis
        << '\n';
  out << "\nEach has --help with an example, and --format json for programs.\n";
}

} // namespace

exit_code report(const failure& x, exit_code how, bool json, streams io) {
  if (json) {
    const troupe::json object{
      {"success", false},
      {"error",
       {{"code", x.code}, {"what", x.what}, {"why", x.why}, {"hint", x.hint}}}};
    io.out << object.dump(2) << '\n';
    return how;
  }
  // Names of columns, tensors and keys stand in it, which others chose.
  io.err << "troupe: " << printable(x.what) << '\n';
  if (!x.why.empty())
    io.err << printable(x.why) << '\n';
  if (!x.hint.empty())
    io.err << "hint: " << printable(x.hint) << '\n';
  return how;
}

exit_code report(const error& x, bool json, streams io) {
  const auto [code, how] = meaning_of(x.code);
  return report({.code = code, .what = x.context}, how, json, io);
}

std::string fingerprint_of(const host_facts& x) {
  return x.fingerprint ? x.fingerprint().value_or("") : "";
}

std::vector<command> basic_commands(const host_facts& known) {
  return {
    {"check-config", "FILE: say whether a configuration is usable",
     [known](arguments args, streams io) {
       return check_config(known, args, io);
     }},
    {"data", "inspect, tokens, tokenizer: what data, models and texts are",
     data},
    {"doctor", "say what this machine has and what is missing",
     [known](arguments args, streams io) { return doctor(known, args, io); }},
    {"export", "RUN: write its model for use elsewhere", export_command},
    {"keys", "new, allow, deny, list, invite, rotate: who may join a run",
     keys_command},
    {"report", "RUN: make the page that shows a run", report_command},
    {"trace", "RUN: make a trace of its visits, for Perfetto", trace_command},
    {"version", "say which troupe this is", version_command},
    {"why", "RUN: say what a run waits for", why_command},
  };
}

namespace {

/// What a library throws is neither a signal nor a success.
exit_code run_safely(const command& x, arguments args, streams io) {
  const bool json = std::ranges::find(args, "json") != args.end();
  try {
    return x.run(args, io);
  } catch (const std::bad_alloc&) {
    return report({.code = "out_of_memory",
                   .what = "there is not enough memory for '" + x.name + "'",
                   .hint = "smaller data, a smaller model or fewer clients "
                           "would do"},
                  exit_code::failed, json, io);
  } catch (const std::exception& wrong) {
    return report({.code = "internal",
                   .what = '\'' + x.name + "' met what it did not expect",
                   .why = wrong.what(),
                   .hint = "what it had written until then is as it is"},
                  exit_code::failed, json, io);
  }
}

} // namespace

exit_code dispatch(std::span<const command> all, arguments args, streams io) {
  if (args.empty()) {
    list(all, io.err);
    return exit_code::usage;
  }
  const auto& name = args[0];
  if (name == "help" && args.size() > 1) {
    std::vector<std::string> asked{args.begin() + 1, args.end()};
    asked.emplace_back("--help");
    return dispatch(all, asked, io);
  }
  if (name == "--help" || name == "-h" || name == "help") {
    list(all, io.out);
    return exit_code::ok;
  }
  if (name == "--version")
    return version_command(args.subspan(1), io);
  if (const auto found = std::ranges::find(all, name, &command::name);
      found != all.end())
    return run_safely(*found, args.subspan(1), io);
  std::vector<std::string> names;
  for (const auto& x : all)
    names.push_back(x.name);
  const auto near = nearest(name, names);
  const bool json = std::ranges::find(args, "json") != args.end();
  return report({.code = "unknown_command",
                 .what = "unknown command '" + name + "'",
                 .hint = near.empty() ? "troupe --help lists all commands"
                                      : "did you mean 'troupe " + near + "'?"},
                exit_code::usage, json, io);
}

} // namespace troupe::node
