#pragma once

// Charts as SVG: shapes and words, no script; colours come from the page.

#include <optional>
#include <string>
#include <vector>

#include "node/report/axis.hpp"

namespace troupe::node {

struct series {
  struct point {
    double x = 0;
    double y = 0;
    double low = 0;
    double high = 0;
    std::string says; ///< Shown where somebody points at it.
  };

  std::string name;
  std::size_t style = 0; ///< Colour and dashes; the page knows six.
  std::vector<point> points;
  bool band = false; ///< Shows from `low` to `high`.
  bool steps = false;
};

struct line_chart {
  std::string title; ///< For those who cannot see it.
  std::string x_title;
  std::string y_title;
  std::vector<series> lines;
  std::optional<double> y_low = {}; ///< Bounds that make sense beyond the data.
  std::optional<double> y_high = {};
};

/// Needs a point with a finite value in some line; else the text is empty.
std::string draw(const line_chart& x);

/// HTML that says which line is what.
std::string keys_of(const std::vector<series>& all);

struct bar {
  double left = 0;
  double right = 1;
  double height = 0;
  double behind = 0; ///< A lighter bar up to here.
  std::string says = {};
};

struct bar_chart {
  struct mark {
    double x = 0;
    std::string label;
  };

  std::string title;
  std::string x_title;
  std::string y_title;
  std::vector<bar> bars; ///< From left to right.
  std::vector<mark> marks = {};
};

/// Empty without bars.
std::string draw(const bar_chart& x);

} // namespace troupe::node
