#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>
#include <utility>

#include "node/report/chart.hpp"
#include "node/report/figures.hpp"
#include "node/report/markup.hpp"
#include "node/report/quantile.hpp"

namespace troupe::node {

namespace {

/// More would be too thin to be seen.
constexpr std::size_t client_bars_max = 125;

std::string without_accuracies(const run_record& x) {
  if (x.evaluations == 0)
    return "Nothing was evaluated, so nothing is known of single clients.";
  if (!x.ended)
    return "The clients are scored one by one when the run comes to its end.";
  return "There are no accuracies of single clients in "
         "<code>metrics.jsonl</code>.";
}

/// Bins that are round numbers, at most 25.
std::vector<bar> bins_of(const std::vector<double>& sorted) {
  constexpr std::array steps{0.01, 0.02, 0.05, 0.1};
  double step = steps.back();
  for (const auto s : steps)
    if ((sorted.back() - sorted.front()) / s <= 24) {
      step = s;
      break;
    }
  const auto first = std::floor(sorted.front() / step + 1e-9);
  const auto last = std::max(first + 1, std::ceil(sorted.back() / step - 1e-9));
  std::vector<bar> bins;
  for (auto k = first; k < last; ++k)
    bins.push_back({.left = k * step, .right = (k + 1) * step});
  for (const auto x : sorted) {
    const auto bin = std::floor(x / step + 1e-9) - first;
    const auto most = static_cast<double>(bins.size() - 1);
    ++bins[static_cast<std::size_t>(std::clamp(bin, 0.0, most))].height;
  }
  return bins;
}

drawn_figure accuracy_of_clients(const run_record& x) {
  drawn_figure f{
    .title = "Accuracy of the clients", .keys = {}, .drawing = {}, .says = {}};
  const auto& all = x.accuracies;
  if (all.empty()) {
    f.says = without_accuracies(x);
    return f;
  }
  auto bins = bins_of(all);
  // Of many clients, the record holds a thousand that stand for all.
  const auto clients = x.x ? x.x->clients.clients : 0;
  if (all.size() >= 1000 && clients > all.size())
    for (auto& b : bins)
      b.height *=
        static_cast<double>(clients) / static_cast<double>(all.size());
  for (auto& b : bins)
    b.says = count(b.height) + " clients from " + number(b.left) + " to "
             + number(b.right);
  const auto middle = number(quantile(all, 0.5));
  f.drawing =
    draw(bar_chart{.title = f.title,
                   .x_title = "accuracy on the client's own test examples",
                   .y_title = "clients",
                   .bars = std::move(bins),
                   .marks = {{quantile(all, 0.5), "median " + middle}}});
  f.says = "Each client on test examples of its own, with the last model: half "
           "of them reach "
           + middle + ", nine of ten " + number(quantile(all, 0.1))
           + ", the worst " + number(all.front()) + ".";
  return f;
}

/// Of what client K is worth NAME.K, as the last evaluation has it; the least
/// first. Empty where it says nothing of it.
std::vector<std::pair<double, client_id>> results_of(const run_record& x,
                                                     const std::string& name) {
  std::vector<std::pair<double, client_id>> found;
  const auto* results = x.ended ? x.ended->find("method_results") : nullptr;
  const auto* all = results ? results->fields() : nullptr;
  if (!all)
    return found;
  for (const auto& [key, value] : *all) {
    const auto y = value.number();
    if (!y || !std::isfinite(*y) || !key.starts_with(name + "."))
      continue;
    client_id who{};
    const auto* end = key.data() + key.size();
    const auto read =
      std::from_chars(key.data() + name.size() + 1, end, who.value);
    if (read.ec == std::errc{} && read.ptr == end)
      found.emplace_back(*y, who);
  }
  std::ranges::sort(found);
  return found;
}

/// Bars of clients, each with as many neighbours as are needed to fit.
std::vector<bar>
bars_of(const run_record& x,
        const std::vector<std::pair<double, client_id>>& sorted) {
  const auto each = (sorted.size() + client_bars_max - 1) / client_bars_max;
  std::vector<bar> bars;
  for (std::size_t i = 0; i < sorted.size(); i += each) {
    const auto end = std::min(i + each, sorted.size());
    bar b{.left = static_cast<double>(i), .right = static_cast<double>(end)};
    for (auto k = i; k < end; ++k)
      b.height += sorted[k].first / static_cast<double>(end - i);
    b.says = (end - i == 1 ? client_name(sorted[i].second, x.x)
                           : std::to_string(end - i) + " clients, mean")
             + ": " + number(b.height);
    bars.push_back(std::move(b));
  }
  return bars;
}

/// None where the run keeps none of each client.
std::optional<drawn_figure> perplexity_of_clients(const run_record& x) {
  constexpr std::size_t said_max = 12;
  // Earlier versions kept some methods' alone, of another moment.
  constexpr std::array names{
    std::pair{"clients_perplexity", "with what it uses itself"},
    std::pair{"perplexity_merged", "with what was merged since its last visit"},
    std::pair{"perplexity_left", "as its last visit left it"}};
  std::vector<std::pair<double, client_id>> all;
  const char* when = "";
  for (const auto& [name, said] : names)
    if (all.empty()) {
      all = results_of(x, name);
      when = said;
    }
  if (all.empty())
    return std::nullopt;
  drawn_figure f{.title = "Perplexity of the clients",
                 .keys = {},
                 .drawing = {},
                 .says = {}};
  f.drawing = draw(bar_chart{.title = f.title,
                             .x_title = "clients, the least perplexed first",
                             .y_title = "perplexity",
                             .bars = bars_of(x, all)});
  f.says = std::string{"Each client on test rows of its own, "} + when + ".";
  std::vector<std::size_t> said;
  if (all.size() <= said_max)
    for (std::size_t i = 0; i < all.size(); ++i)
      said.push_back(i);
  else
    said = {0, all.size() / 2, all.size() - 1};
  for (const auto i : said)
    f.says += (i == 0 ? " " : "; ") + escaped(client_name(all[i].second, x.x))
              + ": <b>" + number(all[i].first) + "</b>";
  f.says += all.size() <= said_max
              ? "."
              : ", which are the best, the middle and the worst of "
                  + std::to_string(all.size()) + ".";
  return f;
}

using participation = event_tally::participation;

/// Bars of clients, each with as many neighbours as are needed to fit.
std::vector<bar>
bars_of(const run_record& x,
        const std::vector<std::pair<client_id, participation>>& all) {
  const auto each = (all.size() + client_bars_max - 1) / client_bars_max;
  std::vector<bar> bars;
  for (std::size_t i = 0; i < all.size(); i += each) {
    const auto end = std::min(i + each, all.size());
    bar b{.left = static_cast<double>(i), .right = static_cast<double>(end)};
    for (auto k = i; k < end; ++k) {
      b.height += static_cast<double>(all[k].second.merged);
      b.behind += static_cast<double>(all[k].second.invited);
    }
    b.height /= static_cast<double>(end - i);
    b.behind /= static_cast<double>(end - i);
    const auto who = end - i == 1
                       ? client_name(all[i].first, x.x)
                       : "each of " + std::to_string(end - i) + " clients";
    b.says = who + ": " + number(b.height) + " of " + number(b.behind)
             + " visits merged";
    bars.push_back(b);
  }
  return bars;
}

drawn_figure participation_of_clients(const run_record& x) {
  drawn_figure f{
    .title = "Participation", .keys = {}, .drawing = {}, .says = {}};
  if (!x.has_events()) {
    f.says = without_events(x);
    return f;
  }
  std::vector<std::pair<client_id, participation>> all(
    x.events.clients().begin(), x.events.clients().end());
  const auto took_part = all.size();
  // Who is not in the events was never invited.
  const auto clients = x.x ? x.x->clients.clients : 0;
  for (std::uint64_t k = 1; k <= clients; ++k)
    if (!x.events.clients().contains({k}))
      all.emplace_back(client_id{k}, participation{});
  std::ranges::stable_sort(all, {}, [](const auto& c) {
    return std::pair{c.second.merged, c.second.invited};
  });
  f.drawing = draw(bar_chart{.title = f.title,
                             .x_title = "clients, those who gave least first",
                             .y_title = "visits",
                             .bars = bars_of(x, all)});
  f.keys = "<span class=\"key\"><i class=\"swatch full\"></i>merged</span>"
           "<span class=\"key\"><i class=\"swatch\"></i>invited, and not "
           "merged</span>";
  if (all.empty())
    f.says = "Nobody was invited.";
  else
    f.says = count(static_cast<double>(took_part)) + " of "
             + count(static_cast<double>(all.size()))
             + " clients were invited. Fewest merged: "
             + count(static_cast<double>(all.front().second.merged))
             + " visits of client " + std::to_string(all.front().first.value)
             + "; most: " + count(static_cast<double>(all.back().second.merged))
             + " of client " + std::to_string(all.back().first.value) + ".";
  return f;
}

} // namespace

// Who has neither labels nor tokens leaves the first one out.
std::vector<drawn_figure> figures_of_clients(const run_record& x) {
  std::vector<drawn_figure> all;
  if (auto perplexities = perplexity_of_clients(x))
    all.push_back(std::move(*perplexities));
  else if (x.has_accuracies() || x.evaluations == 0)
    all.push_back(accuracy_of_clients(x));
  all.push_back(participation_of_clients(x));
  return all;
}

} // namespace troupe::node
