#include "node/report/heat_map.hpp"

#include <algorithm>
#include <cmath>

#include "node/report/markup.hpp"

namespace troupe::node {

namespace {

constexpr double map_width = 560;
constexpr double map_left = 48;
constexpr double map_right = 548;
constexpr double map_top = 14;
constexpr double row_height_max = 16;
constexpr double rows_height = 400;
/// More names would run into each other.
constexpr std::size_t names_max = 12;
constexpr double name_height = 15;
constexpr std::size_t row_name_max = 4; ///< More would lie over the title.

std::string text_at(double x, double y, const char* kind,
                    const std::string& words, const char* anchor = "middle") {
  return "<text class=\"" + std::string{kind} + "\" x=\"" + coordinate(x)
         + "\" y=\"" + coordinate(y) + "\" text-anchor=\"" + anchor + "\">"
         + escaped(words) + "</text>";
}

/// So that one row can be told from the next where both are white, or dark.
std::string frame_of(std::size_t rows, double down) {
  const auto bottom = map_top + static_cast<double>(rows) * down;
  std::string lines;
  for (std::size_t i = 1; down >= name_height && i < rows; ++i)
    lines += "M" + coordinate(map_left) + " "
             + coordinate(map_top + static_cast<double>(i) * down) + "H"
             + coordinate(map_right);
  if (!lines.empty())
    lines = "<path class=\"grid\" d=\"" + lines + "\"/>";
  return lines + "<path class=\"axis\" d=\"M" + coordinate(map_left) + " "
         + coordinate(map_top) + "H" + coordinate(map_right) + "V"
         + coordinate(bottom) + "H" + coordinate(map_left) + "Z\"/>";
}

std::string names_of_rows(const heat_map& x, double down) {
  std::string text;
  const auto each = static_cast<std::size_t>(std::ceil(name_height / down));
  for (std::size_t i = 0; i < std::min(x.rows, x.row_names.size()); i += each)
    if (x.row_names[i].size() <= row_name_max)
      text += text_at(map_left - 6,
                      map_top + (static_cast<double>(i) + 0.5) * down + 4,
                      "tick", x.row_names[i], "end");
  return text;
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
                     + escaped(x.title) + "\">";
  for (const auto& cell : x.cells)
    text +=
      "<g><title>" + escaped(cell.says) + "</title><rect class=\"heat\" x=\""
      + coordinate(map_left + static_cast<double>(cell.column) * across)
      + "\" y=\"" + coordinate(map_top + static_cast<double>(cell.row) * down)
      + "\" width=\"" + coordinate(across) + "\" height=\""
      + coordinate(std::max(0.1, down)) + "\" fill-opacity=\""
      + number(std::clamp(cell.share, 0.0, 1.0)) + "\"/></g>";
  text += frame_of(x.rows, down) + names_of_rows(x, down);
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
