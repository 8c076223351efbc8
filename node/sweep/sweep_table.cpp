#include "node/sweep/sweep_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "node/report/markup.hpp"

namespace troupe::node {

namespace {

/// @param runs of the row; a metric that not all of them have says of how many
/// it is
std::string text_of(const sweep_value& x, std::size_t runs) {
  if (x.count == 0)
    return "";
  auto text = number(x.mean);
  if (x.deviation)
    text += " ± " + number(*x.deviation);
  if (x.count < runs)
    text += " (" + std::to_string(x.count) + ")";
  return text;
}

/// In quotes where a comma or a quote asks for them.
std::string cell_of(const std::string& x) {
  if (x.find_first_of(",\"\n") == x.npos)
    return x;
  std::string quoted = "\"";
  for (const auto c : x)
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

sweep_value scaled(sweep_value x, double by) {
  for (auto* y : {&x.mean, &x.median, &x.least, &x.most})
    *y *= by;
  if (x.deviation) // At most √2 of the largest: that of two extremes.
    x.deviation =
      std::min(*x.deviation * by, std::numeric_limits<double>::max());
  return x;
}

} // namespace

std::optional<double> metric_of(const json& x, const std::string& name) {
  if (const auto dot = name.find('.'); dot != name.npos) {
    const auto part = x.find(name.substr(0, dot));
    return part ? metric_of(*part, name.substr(dot + 1)) : std::nullopt;
  }
  if (const auto* found = x.find(name))
    return found->number();
  const auto* results = x.find("method_results");
  return results ? metric_of(*results, name) : std::nullopt;
}

sweep_value summary_of(std::vector<double> xs) {
  std::ranges::sort(xs);
  const auto n = xs.size();
  // Squares of what is larger are no numbers any more.
  constexpr double large = 1e150;
  const auto most = std::max(std::abs(xs.front()), std::abs(xs.back()));
  if (most > large) {
    for (auto& y : xs)
      y /= most;
    return scaled(summary_of(std::move(xs)), most);
  }
  sweep_value x{.count = n,
                .mean = std::accumulate(xs.begin(), xs.end(), 0.0)
                        / static_cast<double>(n),
                .deviation = {},
                .median = (xs[(n - 1) / 2] + xs[n / 2]) / 2,
                .least = xs.front(),
                .most = xs.back()};
  if (n < 2)
    return x;
  double squares = 0;
  for (const auto y : xs)
    squares += (y - x.mean) * (y - x.mean);
  x.deviation = std::sqrt(squares / static_cast<double>(n - 1));
  return x;
}

std::vector<sweep_line> lines_of(const sweep_plan& plan,
                                 const sweep_results& found) {
  std::vector<sweep_line> result;
  for (const auto& row : plan.rows) {
    sweep_line line{row.name(), row.published, 0, {}};
    std::vector<std::vector<double>> values(plan.metrics.size());
    for (const auto seed : plan.seeds) {
      const auto one = found.find(sweep_cell{&row, seed}.name());
      if (one == found.end()) {
        ++line.failed;
        continue;
      }
      for (std::size_t m = 0; m < values.size(); ++m)
        if (const auto x = metric_of(one->second, plan.metrics[m]))
          values[m].push_back(*x);
    }
    for (auto& xs : values)
      line.metrics.push_back(xs.empty() ? sweep_value{}
                                        : summary_of(std::move(xs)));
    result.push_back(std::move(line));
  }
  return result;
}

namespace {

/// What would end a cell or begin a tag stands there as it is.
std::string cell(const std::string& x) {
  std::string text;
  for (const auto c : x)
    text += c == '|' ? "\\|" : c == '<' ? "&lt;" : std::string{c};
  return text;
}

} // namespace

std::string as_markdown(const sweep_plan& plan,
                        const std::vector<sweep_line>& lines) {
  std::string head = "| |";
  std::string rule = "| --- |";
  for (const auto& x : plan.metrics) {
    head += ' ' + cell(x) + " | median |";
    rule += " --- | --- |";
  }
  std::string text = head + " published | runs |\n" + rule + " --- | --- |\n";
  for (const auto& line : lines) {
    text += "| " + cell(line.name) + " |";
    const auto runs = plan.seeds.size() - line.failed;
    for (const auto& x : line.metrics)
      text += ' ' + text_of(x, runs) + " | "
              + (x.count > 0 ? number(x.median) : "") + " |";
    text += ' ' + cell(line.published) + " | " + std::to_string(runs);
    if (line.failed > 0)
      text += ", " + std::to_string(line.failed) + " failed or missing";
    text += " |\n";
  }
  return text;
}

std::string as_csv(const sweep_plan& plan,
                   const std::vector<sweep_line>& lines) {
  std::string text = "row,metric,runs,mean,deviation,median,least,most,"
                     "failed,published\n";
  for (const auto& line : lines)
    for (std::size_t m = 0; m < plan.metrics.size(); ++m) {
      const auto& x = line.metrics[m];
      const auto value = [&](double y) {
        return ',' + (x.count > 0 ? json(y).dump() : "");
      };
      text += cell_of(line.name) + ',' + cell_of(plan.metrics[m]) + ','
              + std::to_string(x.count) + value(x.mean) + ','
              + (x.deviation ? json(*x.deviation).dump() : "") + value(x.median)
              + value(x.least) + value(x.most) + ','
              + std::to_string(line.failed) + ',' + cell_of(line.published)
              + '\n';
    }
  return text;
}

json as_json(const sweep_plan& plan, const std::vector<sweep_line>& lines) {
  auto rows = json::array();
  for (const auto& line : lines) {
    auto metrics = json::object();
    for (std::size_t m = 0; m < plan.metrics.size(); ++m) {
      const auto& x = line.metrics[m];
      if (x.count > 0)
        metrics[plan.metrics[m]] = {
          {"runs", x.count},
          {"mean", x.mean},
          {"deviation", x.deviation ? json(*x.deviation) : json(nullptr)},
          {"median", x.median},
          {"least", x.least},
          {"most", x.most}};
    }
    rows.push_back({{"name", line.name},
                    {"published", line.published},
                    {"failed", line.failed},
                    {"metrics", metrics}});
  }
  return rows;
}

} // namespace troupe::node
