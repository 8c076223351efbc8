#include "node/report/token_routing.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "core/json.hpp"
#include "models/files.hpp"
#include "node/report/chart.hpp"
#include "node/report/flat_record.hpp"
#include "node/report/heat_map.hpp"
#include "node/report/markup.hpp"

namespace troupe::node {

namespace {

/// More would make a page of megabytes.
constexpr std::size_t clients_max = 8;
constexpr std::size_t tokens_max = 128;

std::vector<double> numbers_in(const json* x) {
  std::vector<double> all;
  const auto* items = x ? x->items() : nullptr;
  if (!items)
    return all;
  for (const auto& item : *items)
    all.push_back(item.number().value_or(0));
  return all;
}

double number_in(const json& x, std::string_view key) {
  const auto* found = x.find(key);
  return found ? found->number().value_or(0) : 0;
}

json::list list_in(const json& x, std::string_view key) {
  const auto* found = x.find(key);
  const auto* items = found ? found->items() : nullptr;
  return items ? *items : json::list{};
}

/// A line for each layer, over the steps that clients had made.
drawn_figure scores_of_layers(const json::list& looks,
                              const std::string& expert) {
  drawn_figure f{.title = "Mean score of the " + expert,
                 .keys = {},
                 .drawing = {},
                 .says = {}};
  line_chart chart{.title = f.title,
                   .x_title = "steps of a client, in the mean",
                   .y_title = "weight",
                   .lines = {},
                   .y_low = 0,
                   .y_high = 1};
  for (const auto& look : looks) {
    const auto scores = numbers_in(look.find("scores"));
    const auto steps = number_in(look, "steps");
    const auto when =
      number(steps)
      + " steps"
      // A client that nobody serves knows none.
      + (look.find("version") ? ", version " + count(number_in(look, "version"))
                              : "");
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const auto name = "layer " + std::to_string(i + 1);
      if (i == chart.lines.size())
        chart.lines.push_back({.name = name, .style = i, .points = {}});
      chart.lines[i].points.push_back(
        {.x = steps,
         .y = scores[i],
         .low = scores[i],
         .high = scores[i],
         .says = name + ": " + number(scores[i]) + " after " + when});
    }
  }
  f.drawing = draw(chart);
  f.keys = keys_of(chart.lines);
  f.says = "What routers weigh the " + escaped(expert)
           + " by, in the mean over tokens of each client's test rows and then "
             "over clients.";
  return f;
}

/// Tokens of a client's first window, and where each goes first.
drawn_figure window_of(const json& client, const std::string& expert,
                       const std::optional<experiment>& x) {
  const auto who = client_name({count_of(number_in(client, "client"))}, x);
  const auto experts = number_in(client, "experts");
  const auto layers = numbers_in(client.find("layers"));
  const auto window = list_in(client, "window");
  drawn_figure f{
    .title = "Tokens of " + who, .keys = {}, .drawing = {}, .says = {}};
  heat_map map{.title = f.title,
               .x_title = "token of a test window",
               .y_title = "layer",
               .columns = {},
               .rows = std::min(layers.size(), window.size()),
               .cells = {}};
  std::string names;
  for (std::size_t row = 0; row < map.rows; ++row) {
    names += (row > 0 ? ", " : "") + count(layers[row]);
    map.row_names.push_back(count(layers[row]));
    auto chosen = numbers_in(&window[row]);
    chosen.resize(std::min(chosen.size(), tokens_max));
    while (map.columns.size() < chosen.size())
      map.columns.push_back(std::to_string(map.columns.size() + 1));
    for (std::size_t i = 0; i < chosen.size(); ++i)
      // The last of the experts is white.
      if (const auto share = 1 - chosen[i] / std::max(1.0, experts - 1);
          share > 0)
        map.cells.push_back(
          {.row = row,
           .column = i,
           .share = share,
           .says = "token " + map.columns[i] + ", layer " + count(layers[row])
                   + ": "
                   + (chosen[i] == 0 ? "the " + expert
                                     : "expert " + count(chosen[i]))});
  }
  f.drawing = draw(map);
  f.says = "Layers " + names + ", from above. The darkest go to the "
           + escaped(expert) + " first, the white to the last of "
           + count(experts) + " experts.";
  return f;
}

} // namespace

std::vector<std::size_t> layers_shown(std::size_t layers) {
  std::vector<std::size_t> all{0, (layers - 1) / 2, layers - 1};
  const auto last = std::unique(all.begin(), all.end());
  all.erase(last, all.end());
  return all;
}

std::vector<drawn_figure>
figures_of_tokens(const std::filesystem::path& folder,
                  const std::optional<experiment>& x) {
  const auto text =
    models::read_text(folder / routing_file, errc::invalid_data);
  if (!text)
    return {};
  const auto read = json::parse(*text);
  if (!read)
    return {};
  const auto* said = read->find("first_expert");
  const auto* name = said ? said->text() : nullptr;
  const auto looks = list_in(*read, "looks");
  if (!name || looks.empty())
    return {};
  std::vector<drawn_figure> all{scores_of_layers(looks, *name)};
  if (const auto* note = read->find("note"); note && note->text())
    all.back().says += " <b>Note</b>: " + escaped(*note->text()) + ".";
  const auto clients = list_in(*read, "clients");
  for (std::size_t k = 0; k < std::min(clients.size(), clients_max); ++k)
    all.push_back(window_of(clients[k], *name, x));
  if (clients.size() > clients_max)
    all.back().says += " The first " + std::to_string(clients_max) + " of "
                       + std::to_string(clients.size()) + " clients.";
  return all;
}

} // namespace troupe::node
