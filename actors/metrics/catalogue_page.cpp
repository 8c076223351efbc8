#include "actors/metrics/catalogue.hpp"

namespace troupe::actors {

namespace {

using home = metric_home;

std::string_view word_of(metric_type x) {
  switch (x) {
    case metric_type::counter:
      return "counter";
    case metric_type::gauge:
      return "gauge";
    case metric_type::summary:
      return "summary";
    case metric_type::histogram:
      break;
  }
  return "histogram";
}

std::string_view word_of(metric_home x) {
  switch (x) {
    case home::all:
      return "all";
    case home::servers:
      return "run, serve";
    case home::connected:
      return "serve, join";
    case home::serve:
      return "serve";
    case home::join:
      break;
  }
  return "join";
}

std::string word_of(const metric_label& x) {
  auto out = "`" + std::string{x.name} + "`";
  for (std::size_t i = 0; i < x.values.size(); ++i)
    out += (i == 0 ? ": `" : ", `") + std::string{x.values[i]} + "`";
  return out;
}

std::string row_of(const metric& x) {
  std::string labels;
  for (const auto& label : x.labels)
    labels += (labels.empty() ? "" : "; ") + word_of(label);
  std::string out = "|";
  for (const auto& cell :
       {"`" + std::string{x.name} + "`", std::string{word_of(x.type)},
        std::string{x.unit}, labels, std::string{word_of(x.home)},
        std::string{x.help}})
    out += (cell.empty() ? "" : " " + cell) + " |";
  return out + "\n";
}

} // namespace

std::string metrics_as_markdown() {
  std::string out = "| metric | type | unit | labels | of | what it says |\n"
                    "| --- | --- | --- | --- | --- | --- |\n";
  for (const auto& x : all_metrics())
    out += row_of(x);
  return out;
}

} // namespace troupe::actors
