#pragma once

#include <optional>
#include <string>
#include <vector>

#include "node/commands/command.hpp"

namespace troupe::node {

/// What `troupe run` was told about a sweep.
struct sweep_wish {
  std::string file;   ///< Its configuration, where it begins.
  std::string resume; ///< Or the folder of one that goes on.
  std::string folder; ///< Where its own is made; empty: as the file says.
  std::vector<std::string> changes; ///< Of all runs.
  std::string address; ///< To be watched at, which a sweep cannot be.
  bool json = false;
};

/// Makes all runs of a sweep that have no result yet: progress on `err`, the
/// table on `out` and in the sweep's folder. Nothing if the file asks for none,
/// or the folder is not that of one.
std::optional<exit_code> sweep_if_asked(const sweep_wish& wish,
                                        const model_maker& make_model,
                                        streams io);

} // namespace troupe::node
