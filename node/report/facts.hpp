#pragma once

// What a report says in words and tables.

#include <string>

#include "node/report/run_record.hpp"

namespace troupe::node {

/// Whose the accuracy is, in a summary's `accuracy_is_of`.
inline constexpr const char* of_every_client = "every client";
inline constexpr const char* of_a_newcomer = "a newcomer";
inline constexpr const char* of_all_rows = "a newcomer with all rows";

/// What is said of the digest of a run without a version.
inline constexpr const char* of_the_beginning =
  "of where all begin; nothing is merged";

/// Whether all clients have a part of their own: then whoever has none is a
/// newcomer.
bool is_personal(const run_record& x);

/// What the run was, and how it ended.
std::string heading(const run_record& x);

/// The few numbers that people look for first.
std::string tiles(const run_record& x);

/// What became of the visits.
std::string table_of_ends(const run_record& x);

/// Each version line, where there are several.
std::string table_of_lines(const run_record& x);

/// All else that is known of the run.
std::string table_of_run(const run_record& x);

/// What was not readable, and what made this page.
std::string footnotes(const run_record& x);

} // namespace troupe::node
