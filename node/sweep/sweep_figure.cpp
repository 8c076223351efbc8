// The figure of a sweep: a row each, a dot at the mean and a bar of one
// deviation to either side. Where the largest is a hundred times the least,
// equal steps are equal factors.

#include <algorithm>
#include <cmath>
#include <limits>

#include "node/report/markup.hpp"
#include "node/sweep/sweep_table.hpp"

namespace troupe::node {

namespace {

constexpr double letter = 8; // The widest that words are on average.
constexpr double plot_width = 440;
constexpr double row_height = 26;
constexpr double top = 44;

class scale {
public:
  scale(const std::vector<sweep_line>& lines, double left) : left_(left) {
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
    return left_ + plot_width * std::clamp(part, 0.0, 1.0);
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
  double left_;
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

std::string label_of(const sweep_line& x) {
  const auto& first = x.metrics.front();
  return first.count == 0
           ? ""
           : number(first.mean)
               + (x.published.empty() ? "" : "; others " + x.published);
}

/// Room for the longest of the lines' words.
double room(const std::vector<sweep_line>& lines, auto words_of) {
  std::size_t longest = 0;
  for (const auto& line : lines)
    longest = std::max(longest, words_of(line).size());
  return 20 + letter * static_cast<double>(longest);
}

} // namespace

std::string as_figure(const sweep_plan& plan,
                      const std::vector<sweep_line>& lines) {
  const auto height = top + row_height * static_cast<double>(lines.size()) + 50;
  const auto left = room(lines, [](const sweep_line& x) { return x.name; });
  const auto right = left + plot_width;
  const auto width = right + room(lines, label_of);
  const scale by{lines, left};
  std::string svg =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 "
    + coordinate(width) + ' ' + coordinate(height)
    + "\" font-family=\"sans-serif\" font-size=\"13\">\n"
      "<style>.axis{stroke:#999}.bar{stroke:#2563a8;stroke-width:3}"
      ".row{stroke:#e4e4e4}circle{fill:#2563a8}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  svg += words(left, 20, "start",
               plan.metrics.front() + ": mean and deviation over "
                 + std::to_string(plan.seeds.size()) + " seeds"
                 + (by.by_factor() ? "; equal steps are equal factors" : ""));
  double y = top;
  for (const auto& line : lines) {
    y += row_height;
    svg += line_between(left, y, right, y, "row");
    svg += words(left - 10, y + 4, "end", line.name);
    const auto& x = line.metrics.front();
    if (x.count == 0)
      continue;
    const auto off = x.deviation.value_or(0);
    svg += line_between(by.at(x.mean - off), y, by.at(x.mean + off), y, "bar");
    svg += "<circle cx=\"" + coordinate(by.at(x.mean)) + "\" cy=\""
           + coordinate(y) + "\" r=\"5\"/>\n";
    svg += words(right + 12, y + 4, "start", label_of(line));
  }
  svg += line_between(left, height - 24, right, height - 24, "axis");
  svg += words(left, height - 8, "start", number(by.least()));
  svg += words(right, height - 8, "end", number(by.most()));
  return svg + "</svg>\n";
}

} // namespace troupe::node
