// The ensemble that FLoRAL is compared with: C whole models, whose outputs each
// client mixes by the softmax of logits of its own. One step learns all of it
// from the slope of the loss along the mixed outputs: a model's part in that is
// its share, and the slope along a share is the product with what the model
// says.

#include <numeric>

#include "models/methods/built_in.hpp"
#include "models/methods/client_router.hpp"
#include "models/methods/several_models.hpp"

namespace troupe::models {

namespace {

using many_models = std::vector<array>;

/// One step of all of it. Gives the mean loss before.
task<double> step(visit& v, many_models& models, client_router& by, batch on,
                  std::span<const double> shares) {
  const auto& outputs = *v.on.model.outputs();
  std::vector<float> together(on.rows.size() * outputs.size());
  std::vector<utterance> each(shares.size());
  for (std::size_t c = 0; c < shares.size(); ++c) {
    if (shares[c] == 0)
      continue;
    each[c] = co_await v.speak(on, {models[c]});
    add_said(each[c].values, shares[c], together);
  }
  std::vector<float> slopes(together.size());
  const auto judged = outputs.judge(split::train, on.rows, together, slopes);
  divide(slopes, on.rows.size());
  std::vector<double> along_shares(shares.size());
  const kernels::sgd_step of_models{.rate = static_cast<float>(v.on.rate)};
  for (std::size_t c = 0; c < shares.size(); ++c) {
    if (shares[c] == 0)
      continue;
    along_shares[c] = std::inner_product(slopes.begin(), slopes.end(),
                                         each[c].values.begin(), 0.0);
    const auto own = times(slopes, shares[c]);
    co_await v.pull_back(each[c], own, {models[c]});
    co_await v.update(of_models,
                      {.weights = models[c], .gradient = v.gradient()});
  }
  by.descend(shares, along_shares, rate_or(v, "router_rate"));
  const auto total =
    std::accumulate(judged.losses.begin(), judged.losses.end(), 0.0);
  co_return total / static_cast<double>(on.rows.size());
}

task<done> train_ensemble(visit& v, mixing how) {
  const auto fetched = co_await models_of(v);
  v.on.model.begin();
  auto by = co_await router_of(v, how, fetched.size());
  many_models models;
  for (const auto& x : fetched)
    models.push_back(v.copy_of(x.values));
  const auto most = v.option("router_noise");
  batch_sequence from{v.on.rows, v.on.how, v.in.seed};
  random_stream noise{derive_seed(v.in.seed, "router noise")};
  double total = 0;
  for (std::uint64_t i = 0; i < v.plan.steps; ++i) {
    const auto shares = by.noisy_shares(noise, most);
    total += co_await step(v, models, by, from.next_batch(), shares);
  }
  v.out.loss = total / static_cast<double>(v.plan.steps);
  for (std::size_t c = 0; c < fetched.size(); ++c)
    co_await v.offer(fetched[c], models[c], by.shares[c]);
  co_await keep_router(by, v);
  co_return {};
}

task<scores> score_ensemble(visit& v, split part, row_span rows, mixing how) {
  const auto models = co_await models_of(v);
  const auto by = co_await router_of(v, how, models.size());
  const several mixed{models, by.shares};
  co_return co_await score_together(v, mixed, part, rows);
}

template <mixing How>
task<done> train_mixed_by(visit& v) {
  return train_ensemble(v, How);
}

template <mixing How>
task<scores> score_mixed_by(visit& v, split part, row_span rows) {
  return score_ensemble(v, part, rows, How);
}

} // namespace

const local_method ensemble_sgd{.train = train_mixed_by<mixing::learned>,
                                .score = score_mixed_by<mixing::learned>,
                                .summary = summarise_ensembles,
                                .passes = as_many_as_models,
                                .needs = check_plain_sgd};
const local_method tied_ensemble_sgd{.train = train_mixed_by<mixing::tied>,
                                     .score = score_mixed_by<mixing::tied>,
                                     .needs = check_plain_sgd};

} // namespace troupe::models
