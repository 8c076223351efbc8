#pragma once

// What a sweep found: means and spreads over seeds, as tables and a figure.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "node/sweep/sweep_plan.hpp"

namespace troupe::node {

/// Of one row and metric. The spread is that of the sample; none of one value.
struct sweep_value {
  std::size_t count = 0;
  double mean = 0;
  std::optional<double> deviation;
  double median = 0;
  double least = 0;
  double most = 0;
};

struct sweep_line {
  std::string name;
  std::string published;
  std::size_t failed = 0;           ///< Runs without an end.
  std::vector<sweep_value> metrics; ///< In the order of the plan.
};

/// What `troupe run --format json` said, by cell.
using sweep_results = std::map<std::string, json>;

/// A number of a run's result: at the top, in `method_results`, or dotted.
std::optional<double> metric_of(const json& x, const std::string& name);

/// @pre not empty
sweep_value summary_of(std::vector<double> xs);

std::vector<sweep_line> lines_of(const sweep_plan& plan,
                                 const sweep_results& found);

std::string as_markdown(const sweep_plan& plan,
                        const std::vector<sweep_line>& lines);
std::string as_csv(const sweep_plan& plan,
                   const std::vector<sweep_line>& lines);
json as_json(const sweep_plan& plan, const std::vector<sweep_line>& lines);

/// The first metric of all rows, mean and deviation, as SVG.
std::string as_figure(const sweep_plan& plan,
                      const std::vector<sweep_line>& lines);

} // namespace troupe::node
