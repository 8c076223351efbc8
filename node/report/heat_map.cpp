#include "node/report/heat_map.hpp"

#include <algorithm>

#include "node/report/markup.hpp"

namespace troupe::node {

namespace {

constexpr double map_width = 560;
constexpr double map_left = 40;
constexpr double map_right = 548;
constexpr double map_top = 14;
constexpr double row_height_max = 16;
constexpr double rows_height = 400;
/// More names would run into each other.
constexpr std::size_t names_max = 12;

std::string text_at(double x, double y, const char* kind,
                    const std::string& words) {
  return "<text class=\"" + std::string{kind} + "\" x=\"" + coordinate(x)
         + "\" y=\"" + coordinate(y) + "\" text-anchor=\"middle\">"
         + escaped(words) + "</text>";
}

} // namespace

std::string draw(const heat_map& x) {
  if (x.rows == 0 || x.columns.empty())
    return {};
  const auto columns = static_cast<double>(x.columns.size());
  const auto rows = static_cast<double>(x.rows);
  const auto across = (map_right - map_left) / columns;
  const auto down = std::min(row_height_max, rows_height / rows);
  const auto bottom = map_top + rows * down;
  std::string text = "<svg viewBox=\"0 0 " + coordinate(map_width) + " "
                     + coordinate(bottom + 46) + "\" role=\"img\" aria-label=\""
                     + escaped(x.title) + "\"><path class=\"axis\" d=\"M"
                     + coordinate(map_left) + " " + coordinate(bottom) + "H"
                     + coordinate(map_right) + "\" fill=\"none\"/>";
  for (const auto& cell : x.cells)
    text +=
      "<g><title>" + escaped(cell.says) + "</title><rect class=\"heat\" x=\""
      + coordinate(map_left + static_cast<double>(cell.column) * across)
      + "\" y=\"" + coordinate(map_top + static_cast<double>(cell.row) * down)
      + "\" width=\"" + coordinate(across) + "\" height=\""
      + coordinate(std::max(0.1, down)) + "\" fill-opacity=\""
      + number(std::clamp(cell.share, 0.0, 1.0)) + "\"/></g>";
  const auto each = (x.columns.size() + names_max - 1) / names_max;
  for (std::size_t i = 0; i < x.columns.size(); i += each)
    text += text_at(map_left + (static_cast<double>(i) + 0.5) * across,
                    bottom + 18, "tick", x.columns[i]);
  text += text_at((map_left + map_right) / 2, bottom + 38, "name", x.x_title);
  text +=
    "<text class=\"name\" text-anchor=\"middle\" transform=\"translate(13 "
    + coordinate((map_top + bottom) / 2) + ") rotate(-90)\">"
    + escaped(x.y_title) + "</text>";
  return text + "</svg>";
}

} // namespace troupe::node
