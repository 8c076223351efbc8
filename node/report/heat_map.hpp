#pragma once

#include <string>
#include <vector>

namespace troupe::node {

/// A square for each value, the darker the larger it is, in a frame.
struct heat_map {
  struct cell {
    std::size_t row = 0;
    std::size_t column = 0;
    double share = 0; ///< Of the darkest, from 0 to 1.
    std::string says = {};
  };

  std::string title; ///< For those who cannot see it.
  std::string x_title;
  std::string y_title;
  std::vector<std::string> columns;
  std::size_t rows = 0;
  std::vector<std::string> row_names = {}; ///< From above; some may be shown.
  std::vector<cell> cells; ///< Those that are not here are white.
};

/// Empty without rows or columns.
std::string draw(const heat_map& x);

} // namespace troupe::node
