#include "models/methods/merged_scores.hpp"

#include <algorithm>

#include "models/outputs.hpp"

namespace troupe::models {

double finite_perplexity(const scores& x) noexcept {
  constexpr double most = 1e260; // So that those of many add up to a number.
  return std::min(x.perplexity(), most);
}

bool foretells_tokens(objective& model) noexcept {
  return model.inside() != nullptr && model.labels() == nullptr
         && model.outputs() == nullptr;
}

namespace {

/// Whether a row is right or wrong, which numbers are not.
bool has_answers(objective& model) noexcept {
  const auto* said = model.outputs();
  return model.labels() != nullptr
         || (said != nullptr && said->kind() == output_kind::logits);
}

} // namespace

void worth_of_clients::put(objective& model,
                           std::map<std::string, double>& to) const {
  if (all_.empty())
    return;
  const auto mean_of = [&](const std::string& what, auto of, bool of_each) {
    const auto name = what + '_' + moment_;
    double sum = 0;
    for (const auto& [client, own] : all_) {
      const double value = of(own);
      sum += value;
      if (of_each)
        to[name + '.' + std::to_string(client.value)] = value;
    }
    to[name] = sum / static_cast<double>(all_.size());
  };
  const bool counts_tokens = foretells_tokens(model);
  const bool are_answers = has_answers(model);
  mean_of(
    "loss", [](const scores& x) { return x.mean_loss(); },
    !counts_tokens && !are_answers);
  if (counts_tokens)
    mean_of(
      "perplexity", [](const scores& x) { return finite_perplexity(x); }, true);
  if (are_answers)
    mean_of(
      "accuracy", [](const scores& x) { return x.accuracy(); }, true);
}

void score_merged(const evaluation_input& x, const local_problem& on,
                  task<done> (*home)(visit& v), evaluated& to) {
  if (on.clients == nullptr)
    return;
  worth_of_clients worth{"merged"};
  for (const auto& [client, state] : x.states) {
    const auto k = client.value - 1;
    if (client.value == 0 || k >= on.clients->test.size()
        || on.clients->test[k].empty() || !state || state->visits == 0)
      continue;
    if (!look(at_home(client, x), with_rows_of(client, on), home))
      return;
    const auto own = on.model.evaluate(split::test, on.clients->test[k]);
    if (!own)
      return;
    worth.add(client, *own);
  }
  worth.put(on.model, to.method_results);
}

} // namespace troupe::models
