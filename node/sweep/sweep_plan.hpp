#pragma once

// A sweep: the runs that the table [sweep] of a configuration asks for.

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "node/config/config.hpp"

namespace troupe::node {

/// Changes of the configuration that belong together.
struct sweep_setting {
  std::string name; ///< Empty: the configuration as it is.
  std::vector<std::string> changes;
};

/// A row of the table: all seeds of one method under one setting.
struct sweep_row {
  std::string method; ///< Empty: the setting says it, or the configuration.
  sweep_setting setting;
  std::string published; ///< What others report, for the table alone.

  std::string name() const;
};

struct sweep_plan {
  std::string run; ///< The file that all runs begin from; empty: this one.
  std::vector<sweep_row> rows;
  std::vector<std::uint64_t> seeds;
  std::vector<std::string> metrics;
};

/// One run.
struct sweep_cell {
  const sweep_row* row = nullptr;
  std::uint64_t seed = 0;

  /// Fit for a file.
  std::string name() const;

  /// What it changes of the configuration.
  std::vector<std::string> changes() const;
};

std::vector<sweep_cell> cells_of(const sweep_plan& x);

/// Reads the first run of each row. Returns the first of all, or why one could
/// not be made.
/// @param fits says whether a configuration that can be read can be run
/// @param progress hears how far it is, where that takes some seconds
[[nodiscard]] result<experiment>
check_rows(const sweep_plan& plan, const std::string& base,
           const std::vector<std::string>& changes,
           const std::function<result<void>(const experiment&)>& fits,
           std::ostream& progress);

/// What the table [sweep] says; nothing where there is none. A refusal names
/// file, line and key.
[[nodiscard]] result<std::optional<sweep_plan>> read_sweep(config_source from);

/// The same of a file, with that as `run` where there is no other; nothing also
/// where it cannot be read.
[[nodiscard]] result<std::optional<sweep_plan>>
load_sweep(const std::string& path);

} // namespace troupe::node
