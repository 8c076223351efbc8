#pragma once

// The runs of a sweep as processes, several at a time.

#include <atomic>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "node/sweep/sweep_table.hpp"

namespace troupe::node {

struct sweep_orders {
  std::string program; ///< This executable.
  std::string config;  ///< The file that all runs begin from.
  std::filesystem::path folder;
  std::vector<std::string> changes; ///< Of all runs, before a cell's own.
  std::size_t at_once = 1;
  std::string metric = {}; ///< What is said of each run as it ends.
  const std::atomic<bool>* stop = nullptr;
  std::ostream* progress = nullptr;
};

/// Where the result of a cell is, once it has ended well.
std::filesystem::path result_of(const sweep_orders& x, const sweep_cell& cell);

/// What earlier runs of this sweep left behind.
sweep_results found_results(const sweep_orders& x,
                            const std::vector<sweep_cell>& cells);

/// Runs the cells that have no result yet; each has its own folder and its own
/// log. What fails says so in its log and is left out. Returns early, when all
/// that has begun has ended, once `stop` is true.
void run_cells(const sweep_orders& x, const std::vector<sweep_cell>& cells);

} // namespace troupe::node
