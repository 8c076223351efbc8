#include "node/replay/last_scores.hpp"

#include <array>
#include <string>
#include <utility>

#include "node/watch/summary.hpp"

namespace troupe::node {

namespace {

/// As a run makes them at its end.
json figures_again(const models::evaluated& found, const experiment& x,
                   const workload& w, std::size_t& clients) {
  chronicle watching{{.blocks = w.blocks,
                      .held_out = x.clients.held_out,
                      .clients = x.clients.clients,
                      .has_labels = w.has_labels,
                      .counts_tokens = w.counts_tokens,
                      .metrics = [](const std::string&) {},
                      .show = [](const progress_report&) {}}};
  watching.evaluated({.line = {}, .head = {}, .scores = found, .problem = {}},
                     {}, {});
  run_summary s;
  put_scores(s, watching, w.has_labels);
  clients = watching.clients_scored();
  return to_json(s);
}

void add_figure(const std::string& what, const json* recorded,
                const json* recomputed, comparison& to) {
  if (!recorded || !recorded->number())
    return;
  ++to.total;
  if (recomputed && recomputed->number() == recorded->number())
    ++to.equal;
  else if (!to.first)
    to.first = difference{what, recorded->dump(),
                          recomputed ? recomputed->dump() : "none"};
}

} // namespace

comparison compare_last_scores(const json& summary,
                               const models::evaluated& found,
                               const experiment& x, const workload& w) {
  comparison all;
  std::size_t clients = 0;
  const auto again = figures_again(found, x, w, clients);
  // Where clients score themselves some may not have answered.
  if (const auto* told = summary.find("clients_scored");
      told && told->count() != clients)
    return all;
  for (const auto* key :
       {"accuracy", "loss", "perplexity", "clients_perplexity", "clients_loss"})
    add_figure(key, summary.find(key), again.find(key), all);
  for (const auto* key : {"per_client", "zero_shot"}) {
    const auto* recorded = summary.find(key);
    const auto* recomputed = again.find(key);
    if (recorded && recorded->fields())
      for (const auto& [part, value] : *recorded->fields())
        add_figure(std::string{key} + "." + part, &value,
                   recomputed ? recomputed->find(part) : nullptr, all);
  }
  return all;
}

} // namespace troupe::node
