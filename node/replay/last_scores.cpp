#include "node/replay/last_scores.hpp"

#include <algorithm>
#include <array>
#include <optional>
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

/// Absent or null.
bool is_absent(const json* x) {
  return !x || x->dump() == "null";
}

std::string as_recorded(const json* x) {
  return x ? x->dump() : "none";
}

/// What neither has is no figure.
void add_figure(const std::string& what, const json* recorded,
                const json* recomputed, comparison& to) {
  if (is_absent(recorded) && is_absent(recomputed))
    return;
  ++to.total;
  const auto said = recorded ? recorded->number() : std::nullopt;
  const auto found = recomputed ? recomputed->number() : std::nullopt;
  if (said && said == found)
    ++to.equal;
  else if (!to.first)
    to.first = difference{what, as_recorded(recorded), as_recorded(recomputed)};
}

constexpr std::array scores_compared{"accuracy", "loss", "perplexity",
                                     "clients_perplexity", "clients_loss"};
constexpr std::array spreads_compared{"per_client", "zero_shot"};
constexpr std::array parts_of_spread{"mean", "p10", "p50", "p90", "worst"};

/// Whether anything that is compared is a number.
bool has_figures(const json& summary) {
  const auto is_number = [](const json* x) { return x && x->number(); };
  return std::ranges::any_of(
           scores_compared,
           [&](auto key) { return is_number(summary.find(key)); })
         || std::ranges::any_of(spreads_compared, [&](auto key) {
              const auto* all = summary.find(key);
              return all && is_number(all->find(parts_of_spread.front()));
            });
}

/// Of an evaluation that was due and not made there may be nothing.
bool was_scored(const json& summary, const experiment& x) {
  const auto* left_out = summary.find("evaluations_left_out");
  const bool may_lack = left_out && left_out->count().value_or(0) > 0;
  return x.evaluate_every > 0 && (!may_lack || has_figures(summary));
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
  if (!was_scored(summary, x))
    return all;
  // Earlier versions knew fewer, and no digests of files.
  const bool knows_all = summary.find("files") != nullptr;
  for (const auto* key : scores_compared)
    if (knows_all || summary.find(key))
      add_figure(key, summary.find(key), again.find(key), all);
  for (const auto* key : spreads_compared) {
    const auto* recorded = summary.find(key);
    const auto* recomputed = again.find(key);
    if (w.counts_tokens && is_absent(recorded))
      continue; // Earlier versions knew it of accuracies alone.
    for (const auto* part : parts_of_spread)
      add_figure(std::string{key} + "." + part,
                 recorded ? recorded->find(part) : nullptr,
                 recomputed ? recomputed->find(part) : nullptr, all);
  }
  return all;
}

} // namespace troupe::node
