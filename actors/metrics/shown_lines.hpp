#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "actors/metrics/status.hpp"

namespace troupe::actors {

/// A line as metrics say it, or all lines of a family together.
struct shown_line {
  std::string name;
  line_status status = {};
  expert_load load = {};
  expert_requests requests = {};
  std::uint64_t reader_mailbox = 0; ///< Of its expert.
  bool is_expert = false;           ///< Or has some.
  bool is_asked_for = false;        ///< Visits say whom they ask for.
  bool is_crowded = false;
  bool is_deserted = false;
};

/// Every line by its name; of more than `limits::lines_labelled` the families,
/// as `FAMILY/*`, the most and the least used, and of each family the fullest
/// while it is half full: a thousand experts are not to be as many series.
std::vector<shown_line> shown_lines(const run_status& x);

/// `adapter` of `adapter.3`; of what has no number, all of it.
std::string family_of(const std::string& line);

} // namespace troupe::actors
