#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/nearest.hpp"

namespace troupe::node {

struct known_key {
  std::string path;  ///< "pace.buffer_size"
  std::string says;  ///< What it is for.
  std::string takes; ///< "an integer from 1 to 4096"
};

/// Every key, in the order of the schema.
const std::vector<known_key>& known_keys();

bool is_key(std::string_view path);

/// "pace", "pace.staleness", …; also the one whose keys the method names.
bool is_section(std::string_view path);

/// The section below which the keys are those of the method.
inline constexpr std::string_view method_section = "options";

/// The table that asks for many runs; sweep/ reads it.
inline constexpr std::string_view sweep_section = "sweep";

/// The keys that a plain name may mean. A section's name means its key of the
/// same name, or its `kind`, `mode` or `rule`. Keys of [common_model] are
/// always said with their table.
std::vector<std::string> meanings(std::string_view name);

/// The last part of a path.
std::string_view leaf(std::string_view path);

using troupe::nearest;

} // namespace troupe::node
