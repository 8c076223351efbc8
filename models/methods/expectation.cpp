// FedEM. A client's examples come from a mixture of C distributions, each with
// a model. A visit is one round of the algorithm:
//
//   E  q_ic ~ pi_c exp(-loss of model c at example i),   pi_c = mean of q_ic
//   M  each model steps along the losses, weighted by q_ic, in the same batches
//
// What the client keeps is pi, as logits; it predicts by the mixture of
// chances.

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "models/families.hpp"
#include "models/methods/built_in.hpp"
#include "models/methods/client_router.hpp"
#include "models/methods/local_loop.hpp"
#include "models/methods/router.hpp"
#include "models/methods/several_models.hpp"

namespace troupe::models {

namespace {

using floats = std::span<const float>;
using row_span = std::span<const std::uint32_t>;

/// Below it a share would never come back.
constexpr double share_floor = 1e-12;

/// How much of each example belongs to each model.
using memberships = std::map<std::uint32_t, std::vector<double>>;

/// Losses of `model` at all rows.
result<std::vector<double>> losses_of(floats model, local_problem& on,
                                      model_outputs& outputs, row_span rows) {
  load_parameters(on.model, model);
  std::vector<float> said(rows.size() * outputs.size());
  if (auto done = outputs.say(split::train, rows, said); !done)
    return tl::unexpected{done.error()};
  return outputs.judge(split::train, rows, said, {}).losses;
}

result<memberships> expect(std::span<const floats> models,
                           std::span<const double> shares, local_problem& on,
                           model_outputs& outputs) {
  std::vector<std::vector<double>> losses;
  for (const auto model : models) {
    auto found = losses_of(model, on, outputs, on.rows);
    if (!found)
      return tl::unexpected{found.error()};
    losses.push_back(std::move(*found));
  }
  memberships result;
  for (std::size_t i = 0; i < on.rows.size(); ++i) {
    std::vector<double> logits;
    for (std::size_t c = 0; c < models.size(); ++c)
      logits.push_back(std::log(std::max(shares[c], share_floor))
                       - losses[c][i]);
    result[on.rows[i]] = softmax(logits);
  }
  return result;
}

client_router mean_of(const memberships& x, std::size_t count) {
  client_router by{.logits = {}, .shares = std::vector<double>(count)};
  for (const auto& [row, parts] : x)
    for (std::size_t c = 0; c < count; ++c)
      by.shares[c] += parts[c] / static_cast<double>(x.size());
  for (const auto share : by.shares)
    by.logits.push_back(std::log(std::max(share, share_floor)));
  return by;
}

/// One step of model `c`, which is live: returns its part of the batch's loss.
result<double> step(std::size_t c, row_span rows, std::uint64_t seed,
                    const memberships& parts, local_problem& on,
                    model_outputs& outputs) {
  const auto said = outputs.speak(rows, seed);
  if (!said)
    return tl::unexpected{said.error()};
  std::vector<float> slopes(said->values.size());
  const auto judged = outputs.judge(split::train, rows, said->values, slopes);
  double loss = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto part = parts.at(rows[i])[c] / static_cast<double>(rows.size());
    loss += part * judged.losses[i];
    for (std::size_t j = 0; j < outputs.size(); ++j)
      slopes[i * outputs.size() + j] *= static_cast<float>(part);
  }
  if (auto done = said->pull_back(slopes); !done)
    return tl::unexpected{done.error()};
  const auto done = on.arithmetic.step(
    kernels::sgd_step{.rate = static_cast<float>(on.rate)},
    {.weights = on.model.parameters(), .gradient = on.model.gradient()});
  if (!done)
    return tl::unexpected{done.error()};
  return loss;
}

/// All steps of model `c`. Models do not read each other, so one after the
/// other is the same as all at once.
result<double> maximise(std::size_t c, const base_block& from,
                        std::uint64_t steps, std::uint64_t seed,
                        const memberships& parts, local_problem& on,
                        model_outputs& outputs) {
  load_parameters(on.model, from.values);
  batch_sequence batches{on.rows, on.how, seed};
  double total = 0;
  for (std::uint64_t i = 0; i < steps; ++i) {
    const auto loss = step(c, batches.next(), derive_seed(seed, "operators", i),
                           parts, on, outputs);
    if (!loss)
      return loss;
    total += *loss;
  }
  return total / static_cast<double>(steps);
}

result<client_router> shares_of(client_id client, const client_state* state,
                                std::size_t count) {
  return router_of(mixing::learned, client, state, count);
}

} // namespace

result<trained> em_sgd(const visit_input& x, local_problem& on) {
  if (auto ok = check_plain_sgd(on); !ok)
    return tl::unexpected{ok.error()};
  auto out = begin_result(x);
  const auto plan = plan_visit(on.how, on.rows.size(), x.seed);
  out.steps = plan.steps;
  if (plan.idle())
    return out;
  const auto outputs = outputs_of(on);
  if (!outputs)
    return tl::unexpected{outputs.error()};
  on.model.begin();
  const auto fetched = models_of(x, on);
  if (!fetched)
    return tl::unexpected{fetched.error()};
  const auto count = fetched->size();
  const auto before = shares_of(x.visit.client, x.state.get(), count);
  if (!before)
    return tl::unexpected{before.error()};
  std::vector<floats> views;
  for (const auto& y : *fetched)
    views.push_back(y.values);
  const auto parts = expect(views, before->shares, on, **outputs);
  if (!parts)
    return tl::unexpected{parts.error()};
  out.loss = 0;
  for (std::size_t c = 0; c < count; ++c) {
    const auto& from = (*fetched)[c];
    const auto loss =
      maximise(c, from, plan.steps, x.seed, *parts, on, **outputs);
    if (!loss)
      return tl::unexpected{loss.error()};
    out.loss += *loss;
    if (auto done = offer_difference(from, on.model.parameters(), on, out);
        !done)
      return tl::unexpected{done.error()};
  }
  const auto after = mean_of(*parts, count);
  const std::vector<float> logits(after.logits.begin(), after.logits.end());
  if (auto done = keep(mixture_family, logits, out.next); !done)
    return tl::unexpected{done.error()};
  return out;
}

result<scores> em_scores(const home& x, local_problem& on, split part,
                         row_span rows) {
  const auto models = models_of(x, on);
  const auto by = shares_of(x.client, x.state, models.size());
  if (!by)
    return tl::unexpected{by.error()};
  return score_together(models, by->shares, blend::chances, on, part, rows);
}

} // namespace troupe::models
