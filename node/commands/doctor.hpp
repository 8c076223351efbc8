#pragma once

#include <filesystem>
#include <vector>

#include "node/commands/command.hpp"

namespace troupe::node {

/// One thing that a machine has or lacks.
struct finding {
  enum class state_kind : std::uint8_t {
    fine,
    note,     ///< Nothing is missing, and who compares has to know it.
    optional, ///< Missing, and only some runs need it.
    missing,  ///< Nothing works well without it.
  };

  std::string name;
  state_kind state = state_kind::fine;
  std::string what;
  std::string hint = {};
};

struct places {
  std::filesystem::path data_sets = "/usr/share/datasets";
  std::filesystem::path folder = "."; ///< Where runs would be written.
};

/// Looks around; changes nothing.
std::vector<finding> examine(const host_facts& known, const places& where);

/// Ends with `failed` if something is missing.
exit_code doctor(const host_facts& known, arguments args, streams io);

} // namespace troupe::node
