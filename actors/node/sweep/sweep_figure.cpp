// The figure of a sweep: a row each, a dot at the mean and a bar of one
// deviation to either side. Where the largest is a hundred times the least,
// equal steps are equal factors.

#include <algorithm>
#include <cmath>
#include <limits>

#include "actors/node/report/markup.hpp"
#include "actors/node/sweep/sweep_table.hpp"

namespace troupe::node {

namespace {

constexpr double label_width = 190;
constexpr double plot_width = 440;
constexpr double row_height = 26;
constexpr double top = 44;

class scale {
public:
  explicit scale(const std::vector<sweep_line>& lines) {
    for (const auto& line : lines)
      if (const auto& x = line.metrics.front(); x.count > 0) {
        const auto off = x.deviation.value_or(0);
        least_ = std::min({least_, x.least, x.mean - off});
        most_ = std::max({most_, x.most, x.mean + off});
        positive_ = std::min(positive_, x.least);
      }
    by_factor_ = positive_ > 0 && most_ > 100 * positive_;
    if (by_factor_)
      least_ = positive_;
    if (!(least_ < most_)) {
      least_ = std::isfinite(least_) ? least_ - 1 : 0;
      most_ = least_ + 2;
    }
  }

  double at(double x) const {
    const auto to = [&](double y) {
      return by_factor_ ? std::log(std::max(y, least_)) : y;
    };
    const auto part = (to(x) - to(least_)) / (to(most_) - to(least_));
    return label_width + plot_width * std::clamp(part, 0.0, 1.0);
  }

  bool by_factor() const {
    return by_factor_;
  }

  double least() const {
    return least_;
  }

  double most() const {
    return most_;
  }

private:
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
  double positive_ = std::numeric_limits<double>::infinity();
  bool by_factor_ = false;
};

std::string line_between(double x1, double y1, double x2, double y2,
                         const char* look) {
  return "<line x1=\"" + coordinate(x1) + "\" y1=\"" + coordinate(y1)
         + "\" x2=\"" + coordinate(x2) + "\" y2=\"" + coordinate(y2)
         + "\" class=\"" + look + "\"/>\n";
}

std::string words(double x, double y, const char* anchor,
                  const std::string& text) {
  return "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y)
         + "\" text-anchor=\"" + anchor + "\">" + escaped(text) + "</text>\n";
}

} // namespace

std::string as_figure(const sweep_plan& plan,
                      const std::vector<sweep_line>& lines) {
  const auto height = top + row_height * static_cast<double>(lines.size()) + 50;
  const auto width = label_width + plot_width + 170;
  const scale by{lines};
  std::string svg =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 "
    + coordinate(width) + ' ' + coordinate(height)
    + "\" font-family=\"sans-serif\" font-size=\"13\">\n"
      "<style>.axis{stroke:#999}.bar{stroke:#2563a8;stroke-width:3}"
      ".row{stroke:#e4e4e4}circle{fill:#2563a8}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  svg += words(label_width, 20, "start",
               plan.metrics.front() + ": mean and deviation over "
                 + std::to_string(plan.seeds.size()) + " seeds"
                 + (by.by_factor() ? "; equal steps are equal factors" : ""));
  double y = top;
  for (const auto& line : lines) {
    y += row_height;
    svg += line_between(label_width, y, label_width + plot_width, y, "row");
    svg += words(label_width - 10, y + 4, "end", line.name);
    const auto& x = line.metrics.front();
    if (x.count == 0)
      continue;
    const auto off = x.deviation.value_or(0);
    svg += line_between(by.at(x.mean - off), y, by.at(x.mean + off), y, "bar");
    svg += "<circle cx=\"" + coordinate(by.at(x.mean)) + "\" cy=\""
           + coordinate(y) + "\" r=\"5\"/>\n";
    svg +=
      words(label_width + plot_width + 12, y + 4, "start",
            number(x.mean)
              + (line.published.empty() ? "" : "; others " + line.published));
  }
  svg += line_between(label_width, height - 24, label_width + plot_width,
                      height - 24, "axis");
  svg += words(label_width, height - 8, "start", number(by.least()));
  svg += words(label_width + plot_width, height - 8, "end", number(by.most()));
  return svg + "</svg>\n";
}

} // namespace troupe::node
