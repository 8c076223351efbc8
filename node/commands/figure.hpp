#pragma once

// A figure of the project's own: what is measured, and what it is held against.

#include <algorithm>
#include <functional>
#include <iosfwd>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "core/result.hpp"

namespace troupe::node {

/// One repetition: seconds a visit, and those of what it is compared with; of a
/// figure that counts no time what its unit says.
struct sample {
  double seconds = 0;
  double compared = 0;
};

struct figure {
  std::string name;
  /// "ms" of a visit or of something else ("ms/GB"), or visits in a second.
  std::string unit;
  std::string compared_with;
  std::optional<double> bar; ///< None: reported, not judged.
  int repetitions = 1;
  /// What is judged: the median of the ratios, where one side is the other and
  /// a little more; else the ratio of the best of each side.
  bool by_median = false;
  std::function<result<sample>()> once;

  // Others use this machine too: the least is what the program itself takes.
  sample best{std::numeric_limits<double>::infinity(),
              std::numeric_limits<double>::infinity()};
  std::vector<double> ratios = {};
  /// Why there is none; that this machine cannot have it is no fault of ours.
  std::optional<error> problem = {};

  bool is_left_out() const {
    return problem && problem->code == errc::unsupported;
  }

  bool counts_rate() const {
    return unit == "1/s";
  }

  double value() const {
    return counts_rate()            ? 1 / best.seconds
           : unit.starts_with("ms") ? best.seconds * 1e3
                                    : best.seconds;
  }

  double ratio_of(const sample& x) const {
    return counts_rate() ? x.compared / x.seconds : x.seconds / x.compared;
  }

  double ratio() const {
    return ratio_of(best);
  }

  void add(const sample& x) {
    best = {std::min(best.seconds, x.seconds),
            std::min(best.compared, x.compared)};
    ratios.push_back(ratio_of(x));
  }

  double median_ratio() const {
    auto xs = ratios;
    std::ranges::sort(xs);
    return (xs[(xs.size() - 1) / 2] + xs[xs.size() / 2]) / 2;
  }

  bool holds() const {
    if (problem)
      return is_left_out();
    const auto judged = by_median ? median_ratio() : ratio();
    return !bar || (counts_rate() ? judged >= *bar : judged <= *bar);
  }
};

json to_json(const figure& x);

/// Measures all figures; one that gives none leaves the others as they are. A
/// repetition is one iteration, which takes its own time: it measures a visit,
/// and not the whole call.
void measure_all(std::vector<figure>& figures, std::ostream& progress);

} // namespace troupe::node
