#include "node/report/routing.hpp"

#include <algorithm>
#include <utility>

#include "models/files.hpp"
#include "node/config/config.hpp"
#include "node/report/chart.hpp"
#include "node/report/heat_map.hpp"
#include "node/report/markup.hpp"
#include "policies/catalogue.hpp"

namespace troupe::node {

namespace {

using policies::request_watch;

/// More would be too thin to be seen.
constexpr std::size_t rows_max = 200;
constexpr std::size_t columns_max = 64;

/// The family that visits list; empty: none. A record's line does not say where
/// the values of a second disclosure begin.
std::string family_asked_for(const recipe& method) {
  return method.disclosures.size() == 1 ? method.disclosures.front().chosen_of
                                        : std::string{};
}

/// By name; empty where visits list nobody.
std::vector<std::string> experts_in(const recipe& method,
                                    const models::layout& blocks) {
  std::vector<std::string> names;
  if (const auto family = family_asked_for(method); !family.empty())
    for (const auto id : blocks.family(family))
      names.push_back(blocks.find(id)->name);
  return names;
}

/// As the run has it; none where visits list nobody.
std::optional<recipe> asking_method_of(const experiment& x) {
  const auto* found = all_methods().find(x.method);
  if (!found || family_asked_for(*found).empty())
    return std::nullopt;
  auto method = policies::with_options(*found, x.training.method);
  return method ? std::optional{std::move(*method)} : std::nullopt;
}

std::vector<std::string> texts_of(const request_watch& of,
                                  const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const auto& alarm : of.alarms())
    out.push_back(policies::text_of(alarm, names[alarm.expert]));
  return out;
}

std::vector<std::string> first_of(std::vector<std::string> names) {
  if (names.size() > columns_max)
    names.resize(columns_max);
  return names;
}

drawn_figure map_of_clients(const run_record& x,
                            const std::vector<std::string>& names) {
  drawn_figure f{
    .title = "Requests by client", .keys = {}, .drawing = {}, .says = {}};
  heat_map map{.title = f.title,
               .x_title = "expert",
               .y_title = "clients",
               .columns = first_of(names),
               .cells = {}};
  for (const auto& [client, asked] : x.events.requests()) {
    if (map.rows == rows_max)
      break;
    map.row_names.push_back(std::to_string(client.value));
    const auto most = std::ranges::max(asked);
    for (std::size_t i = 0; i < map.columns.size(); ++i)
      if (asked[i] > 0)
        map.cells.push_back(
          {.row = map.rows,
           .column = i,
           .share = static_cast<double>(asked[i]) / static_cast<double>(most),
           .says = "client " + std::to_string(client.value) + " asked "
                   + std::to_string(asked[i]) + " times for " + names[i]});
    ++map.rows;
  }
  f.drawing = draw(map);
  const auto clients = x.events.requests().size();
  f.says = "Each row is a client, by its number from above; the darkest of a "
           "row is the expert that it asked for most often.";
  if (clients > map.rows)
    f.says += " The first " + std::to_string(map.rows) + " of "
              + std::to_string(clients) + " that asked.";
  if (names.size() > map.columns.size())
    f.says += " The first " + std::to_string(map.columns.size()) + " of "
              + std::to_string(names.size()) + " experts.";
  return f;
}

drawn_figure load_of_experts(const request_watch& of,
                             const std::vector<std::string>& names) {
  drawn_figure f{
    .title = "Load of the experts", .keys = {}, .drawing = {}, .says = {}};
  bar_chart chart{.title = f.title,
                  .x_title = "expert, by its number",
                  .y_title = "visits",
                  .bars = {}};
  for (std::size_t i = 0; i < names.size(); ++i)
    chart.bars.push_back(
      {.left = static_cast<double>(i) - 0.5,
       .right = static_cast<double>(i) + 0.5,
       .height = static_cast<double>(of.first()[i]),
       .behind = static_cast<double>(of.asked()[i]),
       .says = names[i] + ": first of " + std::to_string(of.first()[i])
               + " visits, asked for by " + std::to_string(of.asked()[i])});
  f.drawing = draw(chart);
  f.keys =
    "<span class=\"key\"><i class=\"swatch full\"></i>first places</span>"
    "<span class=\"key\"><i class=\"swatch\"></i>requests</span>";
  f.says = std::to_string(of.visits()) + " visits said whom they asked for.";
  for (const auto& text : texts_of(of, names))
    f.says += " <b>Alarm</b>: " + escaped(text) + ".";
  return f;
}

/// What the last evaluation found, in words.
drawn_figure figures_of_gate(const run_record& x) {
  drawn_figure f{
    .title = "The gate in figures", .keys = {}, .drawing = {}, .says = {}};
  const auto* results = x.ended ? x.ended->find("method_results") : nullptr;
  const auto* all = results ? results->fields() : nullptr;
  const std::vector<std::pair<std::string, std::string>> known{
    {"gate_entropy", "entropy of the mean gate: 0 is one expert, 1 all alike"},
    {"experts_asked", "experts that somebody asks for"},
    {"experts_used", "experts that answer some row"},
    {"owner_accuracy", "rows whose best expert of all is the owner's"},
    {"owner_accuracy_chosen", "the same among the experts asked for, of rows "
                              "whose owner is one of them"},
    {"expert_accuracy", "rows that the chosen expert answers right"},
    {"clients_without_routes", "clients of whose rows nothing is known"}};
  const auto put = [&](const std::string& what, double value) {
    f.says += (f.says.empty() ? "" : "<br>") + escaped(what) + ": <b>"
              + number(value) + "</b>";
  };
  for (const auto& [name, what] : known)
    if (const auto* value = results ? results->find(name) : nullptr)
      if (const auto y = value->number())
        put(what, *y);
  const std::string group = "accuracy_group_";
  if (all)
    for (const auto& [name, value] : *all)
      if (const auto y = value.number(); y && name.starts_with(group))
        put("accuracy of group " + name.substr(group.size()), *y);
  if (f.says.empty())
    f.says = "No evaluation scored clients one by one, so nothing is known of "
             "what the gate is worth.";
  return f;
}

/// Texts and numbers of a list.
std::vector<std::string> words_in(const json* x) {
  std::vector<std::string> out;
  const auto* items = x ? x->items() : nullptr;
  if (!items)
    return out;
  for (const auto& item : *items) {
    if (const auto* text = item.text())
      out.push_back(*text);
    else
      out.push_back(std::to_string(item.count().value_or(0)));
  }
  return out;
}

/// `troupe eval --matrix` wrote it: a row for each client, a column for each
/// expert.
std::optional<drawn_figure> matrix_of(const run_record& x) {
  const auto text =
    models::read_text(x.folder / "matrix.json", errc::invalid_data);
  if (!text)
    return std::nullopt;
  const auto read = json::parse(*text);
  if (!read)
    return std::nullopt;
  const auto experts = words_in(read->find("experts"));
  const auto clients = words_in(read->find("clients"));
  const auto* found = read->find("accuracy");
  const auto* rows = found ? found->items() : nullptr;
  if (!rows || rows->size() != clients.size())
    return std::nullopt;
  drawn_figure f{.title = "Accuracy of each expert for each client",
                 .keys = {},
                 .drawing = {},
                 .says = {}};
  heat_map map{.title = f.title,
               .x_title = "expert",
               .y_title = "clients",
               .columns = first_of(experts),
               .rows = std::min(rows_max, clients.size()),
               .row_names = clients,
               .cells = {}};
  for (std::size_t k = 0; k < map.rows; ++k)
    if (const auto* values = (*rows)[k].items())
      for (std::size_t i = 0; i < std::min(map.columns.size(), values->size());
           ++i)
        if (const auto y = (*values)[i].number())
          map.cells.push_back({.row = k,
                               .column = i,
                               .share = *y,
                               .says = "client " + clients[k] + " with "
                                       + experts[i] + ": " + number(*y)});
  f.drawing = draw(map);
  f.says = "Each row is a client on its own test examples, each column an "
           "expert: the darker, the more of them it answers right.";
  return f;
}

} // namespace

std::vector<std::string> experts_of(const experiment& x) {
  const auto method = asking_method_of(x);
  if (!method)
    return {};
  const auto family = family_asked_for(*method);
  std::vector<std::string> out;
  for (const auto& block : method->blocks)
    if (block.name == family)
      for (std::uint32_t i = 0; i < block.count; ++i)
        out.push_back(family + "." + std::to_string(i));
  return out;
}

policies::request_watch::options requests_of(const experiment& x) {
  const auto method = asking_method_of(x);
  if (!method)
    return {};
  return {.experts = experts_of(x).size(),
          .asked = method->disclosures.front().count_max};
}

visit_id visit_in(const flat_record& x) {
  return {{x.count("client")}, {x.count("visit")}};
}

std::vector<std::uint32_t> request_in(const flat_record& x,
                                      std::size_t experts) {
  const auto said = x.numbers("disclosed");
  if (said.empty() || said.front() != 0)
    return {};
  return policies::request_in(said.subspan(1), experts);
}

std::vector<drawn_figure> figures_of_routing(const run_record& x) {
  const auto names = x.x ? experts_of(*x.x) : std::vector<std::string>{};
  const auto* of = x.events.asked();
  if (names.empty() || !of)
    return {};
  std::vector<drawn_figure> all;
  if (of->visits() > 0) {
    all.push_back(map_of_clients(x, names));
    all.push_back(load_of_experts(*of, names));
  } else {
    all.push_back({.title = "Requests by client",
                   .keys = {},
                   .drawing = {},
                   .says = x.has_events()
                             ? "No visit has said whom it asks for."
                             : without_events(x)});
  }
  all.push_back(figures_of_gate(x));
  if (auto matrix = matrix_of(x))
    all.push_back(std::move(*matrix));
  return all;
}

std::optional<request_watch> requests_in(const std::filesystem::path& folder,
                                         const recipe& method,
                                         const models::layout& blocks) {
  const auto experts = experts_in(method, blocks);
  if (experts.empty())
    return std::nullopt;
  std::uint64_t events = 0;
  request_watch watch{
    {.experts = experts.size(), .asked = method.disclosures.front().count_max}};
  for_each_record(folder / "events.jsonl", [&](const flat_record& x) {
    ++events;
    if (x.text("event") == "offered")
      watch.add(visit_in(x), request_in(x, experts.size()));
  });
  return events > 0 ? std::optional{std::move(watch)} : std::nullopt;
}

std::optional<json> routing_in(const std::filesystem::path& folder,
                               const recipe& method,
                               const models::layout& blocks) {
  const auto watch = requests_in(folder, method, blocks);
  if (!watch)
    return std::nullopt;
  const auto names = experts_in(method, blocks);
  return json{{"experts", names},
              {"requests", watch->asked()},
              {"first_places", watch->first()},
              {"visits", watch->visits()},
              {"alarms", texts_of(*watch, names)}};
}

} // namespace troupe::node
