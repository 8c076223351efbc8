#include "node/watch/metric_lines.hpp"

#include <algorithm>
#include <cmath>

#include "actors/record/names.hpp"
#include "core/json.hpp"
#include "node/watch/chronicle.hpp"

namespace troupe::node {

namespace {

using actors::metric_kind;
using actors::score_name;

void put(json& to, score_name::rows split, const models::scores& x,
         bool has_labels) {
  if (x.count == 0)
    return;
  if (has_labels)
    to[key_of(split, score_name::figure::accuracy)] = x.accuracy();
  to[key_of(split, score_name::figure::loss)] = to_json(x.mean_loss());
}

constexpr std::size_t accuracies_max = 1000;

json listed(std::vector<double> all) {
  std::ranges::sort(all);
  const auto shown = std::min(all.size(), accuracies_max);
  auto list = json::array();
  for (std::size_t i = 0; i < shown; ++i) {
    const auto at = shown > 1 ? i * (all.size() - 1) / (shown - 1) : 0;
    list.push_back(std::round(all[at] * 1e6) / 1e6);
  }
  return list;
}

} // namespace

json to_json(std::optional<double> x) {
  return x && std::isfinite(*x) ? json(*x) : json(nullptr);
}

json to_json(const std::optional<spread>& x) {
  if (!x)
    return nullptr;
  return {{"mean", x->mean},
          {"p10", x->p10},
          {"p50", x->p50},
          {"p90", x->p90},
          {"worst", x->worst}};
}

std::string record_of(const messages::version_published& x,
                      const models::layout& blocks, std::optional<double> loss,
                      instant at) {
  json line{{"at", seconds(at)},
            {"kind", name_of(metric_kind::version)},
            {"line", blocks.find(x.line)->name},
            {"version", x.head.value}};
  if (x.round.value > 0)
    line["round"] = x.round.value;
  line["merged"] = x.merged.size();
  if (loss)
    line["training_loss"] = to_json(loss);
  for (const auto& block : x.blocks)
    line["digests"][blocks.find(block.block)->name] =
      models::to_hex(block.digest);
  return line.dump();
}

std::string record_of(const messages::evaluation_finished& x, bool has_labels,
                      const spreads& by_client, instant at) {
  json line{{"at", seconds(at)},
            {"kind", name_of(metric_kind::evaluation)},
            {"version", x.head.value}};
  if (x.rounds > 0)
    line["round"] = x.rounds;
  put(line, score_name::rows::test, x.scores.global, has_labels);
  put(line, score_name::rows::validation, x.scores.validation, has_labels);
  if (by_client.perplexity)
    line[actors::perplexity_key] = to_json(by_client.perplexity);
  if (by_client.clients_perplexity)
    line[actors::clients_perplexity_key] =
      to_json(by_client.clients_perplexity);
  const auto& results = x.scores.method_results;
  const std::string majority{actors::majority_key};
  if (const auto found = results.find(majority);
      has_labels && found != results.end())
    line[majority] = to_json(found->second);
  if (by_client.clients) {
    line["per_client"] = to_json(by_client.clients);
    if (!by_client.accuracies.empty())
      line["client_accuracies"] = listed(by_client.accuracies);
  }
  if (by_client.zero_shot)
    line["zero_shot"] = to_json(by_client.zero_shot);
  if (x.asked) {
    line["clients_scored"] = by_client.told;
    line["clients_asked"] = *x.asked;
  }
  for (const auto& [name, value] : results)
    line["method_results"][name] = to_json(value);
  return line.dump();
}

} // namespace troupe::node
