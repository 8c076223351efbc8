#include "node/report/figures.hpp"

#include <algorithm>

#include "node/report/chart.hpp"
#include "node/report/facts.hpp"
#include "node/report/markup.hpp"

namespace troupe::node {

namespace {

/// A curve and what it is called.
struct named {
  const curve& of;
  const char* name;
  std::size_t style;
  const char* kind; ///< Of its band.
};

/// What evaluations are counted by.
std::string counted_by(const run_record& x) {
  return x.by_rounds ? "round" : "version";
}

series over(const named& x, bool time, double unit,
            const std::string& counted) {
  series s{.name = x.name, .style = x.style, .points = {}};
  s.band = x.of.values_per_point() > 1;
  for (const auto& p : x.of.points())
    s.points.push_back({.x = time ? p.at / unit : p.version,
                        .y = p.mean(),
                        .low = p.low,
                        .high = p.high,
                        .says = std::string{x.name} + " " + number(p.mean())
                                + " at " + counted + " " + count(p.version)
                                + ", " + duration(p.at)});
  return s;
}

std::string thinned(const std::vector<named>& curves) {
  std::string text;
  for (const auto& c : curves)
    if (c.of.values_per_point() > 1)
      text += (text.empty() ? "" : " ") + std::string{"Each point of “"}
              + c.name + "” is the mean of up to "
              + count(static_cast<double>(c.of.values_per_point())) + " "
              + c.kind + "; the band goes from the least to the largest.";
  return text;
}

/// One quantity, over versions or over time.
drawn_figure quantity(const run_record& x, const std::string& what,
                      const std::vector<named>& curves, bool time,
                      std::optional<double> least, std::optional<double> most) {
  const auto unit = unit_for(x.last_at);
  const auto across = time ? time_name(x) : counted_by(x) + "s";
  drawn_figure f{
    .title = what + " over " + across, .keys = {}, .drawing = {}, .says = {}};
  line_chart chart{.title = f.title,
                   .x_title = time ? across + " (" + unit.name + ")"
                              : x.lines.size() > 1
                                ? std::string{"version of the lead line"}
                                : counted_by(x),
                   .y_title = what,
                   .lines = {},
                   .y_low = least,
                   .y_high = most};
  for (const auto& c : curves)
    if (!c.of.empty())
      chart.lines.push_back(over(c, time, unit.seconds, counted_by(x)));
  f.drawing = draw(chart);
  f.keys = keys_of(chart.lines);
  if (!time)
    f.says = thinned(curves);
  return f;
}

/// Bars of one value each, or of several where there are many.
std::vector<bar> bars_of(const std::map<std::uint64_t, std::uint64_t>& counts) {
  constexpr std::uint64_t bars_max = 60;
  const auto most = counts.rbegin()->first;
  const auto each = most / bars_max + 1;
  std::vector<bar> bars(most / each + 1);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    bars[i].left = static_cast<double>(i * each) - 0.5;
    bars[i].right = static_cast<double>((i + 1) * each) - 0.5;
  }
  for (const auto& [value, n] : counts)
    bars[value / each].height += static_cast<double>(n);
  for (std::size_t i = 0; i < bars.size(); ++i)
    bars[i].says = count(bars[i].height) + " offers, "
                   + (each == 1 ? std::to_string(i)
                                : std::to_string(i * each) + " to "
                                    + std::to_string((i + 1) * each - 1))
                   + " versions behind";
  return bars;
}

drawn_figure staleness(const run_record& x) {
  drawn_figure f{.title = "Staleness of what was merged",
                 .keys = {},
                 .drawing = {},
                 .says = {}};
  const auto& counts = x.events.staleness();
  if (!x.has_events()) {
    f.says = without_events(x);
    return f;
  }
  if (counts.empty()) {
    f.says = "Nothing was merged.";
    return f;
  }
  double offers = 0;
  double sum = 0;
  for (const auto& [age, n] : counts) {
    offers += static_cast<double>(n);
    sum += static_cast<double>(age) * static_cast<double>(n);
  }
  if (counts.rbegin()->first > 0) // One bar would say nothing.
    f.drawing =
      draw(bar_chart{.title = f.title,
                     .x_title = "versions made since the client fetched",
                     .y_title = "offers",
                     .bars = bars_of(counts)});
  const auto fresh = counts.contains(0) ? counts.at(0) : 0;
  f.says = "Mean " + number(sum / offers) + ", largest "
           + std::to_string(counts.rbegin()->first) + "; "
           + percent(static_cast<double>(fresh) / offers)
           + " of the offers were fresh.";
  return f;
}

/// Six lines can be told apart; of more, the first, the last and four between.
std::vector<std::pair<std::string, const run_record::line*>>
shown_lines(const run_record& x) {
  constexpr std::size_t shown_max = 6;
  std::vector<std::pair<std::string, const run_record::line*>> all;
  for (const auto& [name, line] : x.lines)
    all.emplace_back(name, &line);
  std::ranges::stable_sort(all, std::greater{},
                           [](const auto& l) { return l.second->head; });
  if (all.size() <= shown_max)
    return all;
  std::vector<std::pair<std::string, const run_record::line*>> some;
  for (std::size_t i = 0; i < shown_max; ++i)
    some.push_back(all[i * (all.size() - 1) / (shown_max - 1)]);
  return some;
}

drawn_figure versions_over_time(const run_record& x) {
  drawn_figure f{.title = "Versions over " + time_name(x),
                 .keys = {},
                 .drawing = {},
                 .says = {}};
  const auto unit = unit_for(x.last_at);
  line_chart chart{.title = f.title,
                   .x_title = time_name(x) + " (" + unit.name + ")",
                   .y_title = "version",
                   .lines = {},
                   .y_low = 0.0};
  for (const auto& [name, line] : shown_lines(x)) {
    series s{.name = name, .style = chart.lines.size(), .points = {{}}};
    s.steps = line->versions.points().size() <= 32;
    for (const auto& p : line->versions.points())
      s.points.push_back({.x = p.at / unit.seconds,
                          .y = p.high,
                          .says = name + ": version " + count(p.high) + " at "
                                  + duration(p.at)});
    chart.lines.push_back(std::move(s));
  }
  f.drawing = draw(chart);
  if (chart.lines.size() > 1)
    f.keys = keys_of(chart.lines);
  if (x.lines.empty())
    f.says = "No version was made.";
  else if (x.lines.size() > chart.lines.size())
    f.says = "Six of " + std::to_string(x.lines.size())
             + " version lines, from the longest to the shortest; the table "
               "below has all.";
  return f;
}

} // namespace

std::string time_name(const run_record& x) {
  return x.x && x.x->clock == clock_kind::wall ? "wall time" : "virtual time";
}

std::string without_events(const run_record& x) {
  return x.x && !x.x->events
           ? "This figure is made from events, and the run kept none "
             "(<code>events = false</code>)."
           : "There are no events in <code>events.jsonl</code>, from which "
             "this figure is made.";
}

std::vector<drawn_figure> figures_of_learning(const run_record& x) {
  const auto* tested = is_personal(x) ? "test data, a newcomer" : "test data";
  const std::vector<named> accuracies{
    {x.accuracy, tested, 0, "evaluations"},
    {x.validation_accuracy, "validation data", 1, "evaluations"},
    {x.clients_mean, "clients with what they use, mean", 2, "evaluations"},
    {x.clients_worst, "the worst of them", 3, "evaluations"},
    {x.majority, "who always says a client's commonest label, mean", 4,
     "evaluations"}};
  const std::vector<named> losses{
    {x.training_loss, "training, mean of a version's visits", 2, "versions"},
    {x.loss, tested, 0, "evaluations"},
    {x.validation_loss, "validation data", 1, "evaluations"}};
  const std::vector<named> perplexities{
    {x.perplexity, tested, 0, "evaluations"},
    {x.clients_perplexity, "clients with what they use, mean", 2,
     "evaluations"}};
  std::vector<drawn_figure> all;
  for (const bool time : {false, true})
    if (x.has_accuracies())
      all.push_back(quantity(x, "accuracy", accuracies, time, 0.0, 1.0));
  for (const bool time : {false, true})
    if (!x.clients_perplexity.empty())
      all.push_back(quantity(x, "perplexity", perplexities, time, std::nullopt,
                             std::nullopt));
  for (const bool time : {false, true})
    all.push_back(
      quantity(x, "loss", losses, time, std::nullopt, std::nullopt));
  for (auto& f : all)
    f.title[0] = static_cast<char>(f.title[0] - 'a' + 'A');
  std::erase_if(all, [](const drawn_figure& f) { return f.drawing.empty(); });
  return all;
}

std::vector<drawn_figure> figures_of_pace(const run_record& x) {
  return {staleness(x), versions_over_time(x)};
}

} // namespace troupe::node
