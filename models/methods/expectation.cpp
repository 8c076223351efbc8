// FedEM (Marfoq et al. 2021). A client's examples come from a mixture of C
// distributions, each with a model. A visit is one round of the algorithm:
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

#include "models/methods/built_in.hpp"
#include "models/methods/client_router.hpp"
#include "models/methods/several_models.hpp"

namespace troupe::models {

namespace {

/// Below it a share would never come back.
constexpr double share_floor = 1e-12;

/// How much of each example belongs to each model.
using memberships = std::map<std::uint32_t, std::vector<double>>;

task<memberships> expect(visit& v, std::span<const base_block> models,
                         std::span<const double> shares) {
  const auto& outputs = *v.on.model.outputs();
  const auto rows = v.on.rows;
  std::vector<std::vector<double>> losses;
  for (const auto& model : models) {
    std::vector<float> said(rows.size() * outputs.size());
    co_await v.say(split::train, rows, said, {model.values});
    losses.push_back(outputs.judge(split::train, rows, said, {}).losses);
  }
  memberships result;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<double> logits;
    for (std::size_t c = 0; c < models.size(); ++c)
      logits.push_back(std::log(std::max(shares[c], share_floor))
                       - losses[c][i]);
    result[rows[i]] = softmax(logits);
  }
  co_return result;
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

/// One step of model `c`, which is live. Gives its part of the batch's loss.
task<double> step(visit& v, std::size_t c, batch on, const memberships& parts) {
  const auto& outputs = *v.on.model.outputs();
  const auto said = co_await v.speak(on);
  std::vector<float> slopes(said.values.size());
  const auto judged = outputs.judge(split::train, on.rows, said.values, slopes);
  std::vector<double> own;
  for (const auto row : on.rows)
    own.push_back(parts.at(row)[c] / static_cast<double>(on.rows.size()));
  weigh(own, slopes);
  co_await v.pull_back(said, slopes);
  co_await v.update(kernels::sgd_step{.rate = static_cast<float>(v.on.rate)},
                    {.weights = v.parameters(), .gradient = v.gradient()});
  co_return std::inner_product(own.begin(), own.end(), judged.losses.begin(),
                               0.0);
}

task<done> train_expectation(visit& v) {
  const auto fetched = co_await models_of(v);
  v.on.model.begin();
  const auto count = fetched.size();
  const auto before = co_await router_of(v, mixing::learned, count);
  const auto parts = co_await expect(v, fetched, before.shares);
  // Models do not read each other, so one after the other is the same as all at
  // once.
  for (std::size_t c = 0; c < count; ++c) {
    v.load(fetched[c].values);
    batch_sequence from{v.on.rows, v.on.how, v.in.seed};
    double total = 0;
    for (std::uint64_t i = 0; i < v.plan.steps; ++i)
      total += co_await step(v, c, from.next_batch(), parts);
    v.out.loss += total / static_cast<double>(v.plan.steps);
    co_await v.offer(fetched[c], v.parameters());
  }
  const auto after = mean_of(parts, count);
  co_await keep_logits(after, v);
  co_return {};
}

task<scores> score_expectation(visit& v, split part, row_span rows) {
  const auto models = co_await models_of(v);
  const auto by = co_await router_of(v, mixing::learned, models.size());
  const several mixed{models, by.shares, blend::chances};
  co_return co_await score_together(v, mixed, part, rows);
}

} // namespace

const local_method em_sgd{.train = train_expectation,
                          .score = score_expectation,
                          .summary = summarise_ensembles,
                          .passes = as_many_as_models,
                          .needs = check_plain_sgd};

} // namespace troupe::models
