#pragma once

// The figures of a report: what is drawn of a run, and what is said where there
// is nothing to draw.

#include <string>
#include <vector>

#include "node/report/run_record.hpp"

namespace troupe::node {

struct drawn_figure {
  std::string title;
  std::string keys;    ///< HTML: which line is what. Empty: there is one.
  std::string drawing; ///< SVG; empty: there is nothing to draw.
  std::string says;    ///< HTML below it, or in its place.
};

/// Accuracy, clients' perplexity and loss, over versions, or over rounds where
/// none come, and over time.
std::vector<drawn_figure> figures_of_learning(const run_record& x);

/// How accuracy, or perplexity, and participation are spread over clients.
std::vector<drawn_figure> figures_of_clients(const run_record& x);

/// Staleness, and versions over time.
std::vector<drawn_figure> figures_of_pace(const run_record& x);

/// "virtual time" or "wall time".
std::string time_name(const run_record& x);

/// Why there is no figure that needs events.
std::string without_events(const run_record& x);

} // namespace troupe::node
