#include "node/report/chart.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "node/report/markup.hpp"

namespace troupe::node {

namespace {

constexpr double width = 560;
constexpr double height = 290;
constexpr double left = 78;
constexpr double right = 548;
constexpr double top = 14;
constexpr double bottom = 244;
constexpr std::size_t dots_max = 64;
/// From here on equal ratios say more than equal differences.
constexpr double log_from = 50;

/// Both axes, and all that is the same in each chart.
class canvas {
public:
  canvas(const std::string& title, axis across, axis up)
    : across_(std::move(across)),
      up_(std::move(up)) {
    text_ = "<svg viewBox=\"0 0 " + coordinate(width) + " " + coordinate(height)
            + "\" role=\"img\" aria-label=\"" + escaped(title) + "\">";
  }

  double x(double value) const {
    return left + across_.place(value) * (right - left);
  }

  double y(double value) const {
    return bottom - up_.place(value) * (bottom - top);
  }

  void add(const std::string& more) {
    text_ += more;
  }

  void grid(const std::string& x_title, const std::string& y_title) {
    std::string lines;
    for (const auto& t : up_.ticks())
      lines += "M" + coordinate(left) + " " + coordinate(y(t.value)) + "H"
               + coordinate(right);
    add("<path class=\"grid\" d=\"" + lines + "\"/><path class=\"axis\" d=\"M"
        + coordinate(left) + " " + coordinate(bottom) + "H" + coordinate(right)
        + "\"/>");
    for (const auto& t : up_.ticks())
      label(left - 8, y(t.value) + 4, "end", t.label);
    // The last one would stick out where it is long.
    for (const auto& t : across_.ticks())
      if (x(t.value) > right - 12)
        label(width, bottom + 18, "end", t.label);
      else
        label(x(t.value), bottom + 18, "middle", t.label);
    label((left + right) / 2, bottom + 38, "middle", x_title, "name");
    add("<text class=\"name\" text-anchor=\"middle\" transform=\"translate(13 "
        + coordinate((top + bottom) / 2) + ") rotate(-90)\">" + escaped(y_title)
        + "</text>");
  }

  void label(double at_x, double at_y, const char* anchor,
             const std::string& words, const char* kind = "tick") {
    add("<text class=\"" + std::string{kind} + "\" x=\"" + coordinate(at_x)
        + "\" y=\"" + coordinate(at_y) + "\" text-anchor=\"" + anchor + "\">"
        + escaped(words) + "</text>");
  }

  std::string finish() {
    return std::move(text_) + "</svg>";
  }

private:
  axis across_;
  axis up_;
  std::string text_;
};

struct extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void take(double x) {
    if (!std::isfinite(x))
      return;
    low = std::min(low, x);
    high = std::max(high, x);
  }

  bool empty() const {
    return low > high;
  }
};

axis fitting(const line_chart& chart, extent seen) {
  if (!chart.y_low && seen.low > 0 && seen.high / seen.low > log_from)
    return axis::logarithmic(seen.low, seen.high);
  if (chart.y_low)
    seen.low = std::max(seen.low, *chart.y_low);
  auto fit = axis::linear(seen.low, seen.high);
  // A bound of what is possible is not passed for the sake of round numbers.
  if (chart.y_high && fit.ticks().back().value > *chart.y_high)
    return axis::exact(fit.ticks().front().value, *chart.y_high);
  return fit;
}

std::string at(const canvas& on, double x, double y) {
  return coordinate(on.x(x)) + " " + coordinate(on.y(y));
}

std::string path_of(const canvas& on, const series& s) {
  std::string path;
  for (const auto& p : s.points) {
    if (!std::isfinite(p.y))
      continue;
    if (path.empty())
      path = "M" + at(on, p.x, p.y);
    else if (s.steps)
      path += "H" + coordinate(on.x(p.x)) + "V" + coordinate(on.y(p.y));
    else
      path += "L" + at(on, p.x, p.y);
  }
  return path;
}

std::string band_of(const canvas& on, const series& s) {
  std::string above;
  std::string below;
  for (const auto& p : s.points) {
    if (!std::isfinite(p.low) || !std::isfinite(p.high))
      continue;
    above += (above.empty() ? "M" : "L") + at(on, p.x, p.high);
    below.insert(0, "L" + at(on, p.x, p.low));
  }
  return above.empty() ? "" : above + below + "Z";
}

void put(canvas& on, const series& s) {
  const auto style = "s" + std::to_string(s.style % 6);
  if (s.band)
    on.add("<path class=\"band " + style + "\" d=\"" + band_of(on, s) + "\"/>");
  on.add("<path class=\"line " + style + "\" d=\"" + path_of(on, s) + "\"/>");
  if (s.points.size() > dots_max)
    return;
  for (const auto& p : s.points)
    if (std::isfinite(p.y) && !p.says.empty())
      on.add("<circle class=\"dot " + style + "\" cx=\"" + coordinate(on.x(p.x))
             + "\" cy=\"" + coordinate(on.y(p.y)) + "\" r=\"2.5\"><title>"
             + escaped(p.says) + "</title></circle>");
}

std::string rectangle(const canvas& on, const bar& b, double up_to,
                      const char* kind) {
  const auto from = on.x(b.left);
  const auto to = on.x(b.right);
  // A gap between bars, where there is room for one.
  const auto gap = std::min(1.0, (to - from) / 6);
  const auto peak = on.y(up_to);
  return "<rect class=\"" + std::string{kind} + "\" x=\""
         + coordinate(from + gap) + "\" y=\"" + coordinate(peak) + "\" width=\""
         + coordinate(std::max(to - from - 2 * gap, 0.5)) + "\" height=\""
         + coordinate(bottom - peak) + "\"/>";
}

std::string key_of(const series& s) {
  return "<span class=\"key\"><svg viewBox=\"0 0 28 10\" aria-hidden=\"true\">"
         "<path class=\"line s"
         + std::to_string(s.style % 6) + "\" d=\"M0 5H28\"/></svg>"
         + escaped(s.name) + "</span>";
}

} // namespace

std::string keys_of(const std::vector<series>& all) {
  std::string text;
  for (const auto& s : all)
    text += key_of(s);
  return text;
}

std::string draw(const line_chart& chart) {
  extent across;
  extent up;
  for (const auto& s : chart.lines)
    for (const auto& p : s.points)
      if (std::isfinite(p.y)) {
        across.take(p.x);
        up.take(p.y);
      }
  if (up.empty())
    return {};
  canvas on{chart.title, axis::exact(std::min(0.0, across.low), across.high),
            fitting(chart, up)};
  on.grid(chart.x_title, chart.y_title);
  for (const auto& s : chart.lines)
    put(on, s);
  return on.finish();
}

std::string draw(const bar_chart& chart) {
  if (chart.bars.empty())
    return {};
  double most = 0;
  for (const auto& b : chart.bars)
    most = std::max({most, b.height, b.behind});
  canvas on{chart.title,
            axis::exact(chart.bars.front().left, chart.bars.back().right),
            axis::linear(0, most > 0 ? most : 1)};
  on.grid(chart.x_title, chart.y_title);
  for (const auto& b : chart.bars) {
    on.add("<g>");
    if (!b.says.empty())
      on.add("<title>" + escaped(b.says) + "</title>");
    if (b.behind > b.height)
      on.add(rectangle(on, b, b.behind, "behind"));
    if (b.height > 0)
      on.add(rectangle(on, b, b.height, "bar"));
    on.add("</g>");
  }
  for (const auto& m : chart.marks) {
    const auto x = on.x(m.x);
    on.add("<path class=\"mark\" d=\"M" + coordinate(x) + " "
           + coordinate(bottom) + "V" + coordinate(top + 2) + "\"/>");
    on.label(x + 3, top + 8, "start", m.label, "note");
  }
  return on.finish();
}

} // namespace troupe::node
