// The ensemble that FLoRAL is compared with: C whole models, whose outputs each
// client mixes by the softmax of logits of its own. One step learns all of it
// from the slope of the loss along the mixed outputs: a model's part in that is
// its share, and the slope along a share is the product with what the model
// says.

#include <numeric>

#include "models/families.hpp"
#include "models/methods/built_in.hpp"
#include "models/methods/client_router.hpp"
#include "models/methods/local_loop.hpp"
#include "models/methods/several_models.hpp"

namespace troupe::models {

namespace {

using floats = std::span<const float>;

class ensemble {
public:
  ensemble(local_problem& on, model_outputs& outputs,
           std::span<const base_block> from, client_router by)
    : on_(on),
      outputs_(outputs),
      by_(std::move(by)),
      router_rate_(rate_or(on, "router_rate")),
      noise_(option_or(on.how, "router_noise", 0)) {
    for (const auto& x : from)
      models_.emplace_back(x.values.begin(), x.values.end());
  }

  floats model(std::size_t c) const {
    return models_[c];
  }

  const client_router& router() const {
    return by_;
  }

  /// Returns the mean loss before the steps.
  result<double> run(std::uint64_t steps, std::uint64_t seed) {
    batch_sequence batches{on_.rows, on_.how, seed};
    random_stream noise{derive_seed(seed, "router noise")};
    double total = 0;
    for (std::uint64_t i = 0; i < steps; ++i) {
      const auto loss =
        step(batches.next(), derive_seed(seed, "operators", i), noise);
      if (!loss)
        return loss;
      total += *loss;
    }
    return total / static_cast<double>(steps);
  }

private:
  result<double> step(std::span<const std::uint32_t> rows, std::uint64_t seed,
                      random_stream& noise) {
    const auto shares = by_.noisy_shares(noise, noise_);
    std::vector<float> together(rows.size() * outputs_.size());
    std::vector<utterance> each(shares.size());
    for (std::size_t c = 0; c < shares.size(); ++c) {
      if (shares[c] == 0)
        continue;
      load_parameters(on_.model, models_[c]);
      auto said = outputs_.speak(rows, seed);
      if (!said)
        return tl::unexpected{said.error()};
      add_said(said->values, shares[c], together);
      each[c] = std::move(*said);
    }
    std::vector<float> slopes(together.size());
    const auto judged = outputs_.judge(split::train, rows, together, slopes);
    for (auto& s : slopes)
      s /= static_cast<float>(rows.size());
    std::vector<double> along_shares(shares.size());
    for (std::size_t c = 0; c < shares.size(); ++c) {
      if (shares[c] == 0)
        continue;
      along_shares[c] = std::inner_product(slopes.begin(), slopes.end(),
                                           each[c].values.begin(), 0.0);
      if (auto done = descend(c, each[c], slopes, shares[c]); !done)
        return tl::unexpected{done.error()};
    }
    by_.descend(shares, along_shares, router_rate_);
    const auto total =
      std::accumulate(judged.losses.begin(), judged.losses.end(), 0.0);
    return total / static_cast<double>(rows.size());
  }

  result<void> descend(std::size_t c, const utterance& said, floats slopes,
                       double share) {
    std::vector<float> own(slopes.begin(), slopes.end());
    for (auto& s : own)
      s *= static_cast<float>(share);
    load_parameters(on_.model, models_[c]);
    if (auto done = said.pull_back(own); !done)
      return done;
    return on_.arithmetic.step(
      kernels::sgd_step{.rate = static_cast<float>(on_.rate)},
      {.weights = models_[c], .gradient = on_.model.gradient()});
  }

  local_problem& on_;
  model_outputs& outputs_;
  client_router by_;
  double router_rate_;
  double noise_;
  std::vector<aligned_floats> models_;
};

result<trained> train_ensemble(const visit_input& x, local_problem& on,
                               mixing how) {
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
  auto by = router_of(how, x.visit.client, x.state.get(), fetched->size());
  if (!by)
    return tl::unexpected{by.error()};
  ensemble all{on, **outputs, *fetched, std::move(*by)};
  const auto loss = all.run(plan.steps, x.seed);
  if (!loss)
    return tl::unexpected{loss.error()};
  out.loss = *loss;
  for (std::size_t c = 0; c < fetched->size(); ++c)
    if (auto done = offer_difference((*fetched)[c], all.model(c), on, out,
                                     all.router().shares[c]);
        !done)
      return tl::unexpected{done.error()};
  if (auto done = keep_router(all.router(), out); !done)
    return tl::unexpected{done.error()};
  return out;
}

result<scores> score_ensemble(const home& x, local_problem& on, split part,
                              std::span<const std::uint32_t> rows, mixing how) {
  const auto models = models_of(x, on);
  const auto by = router_of(how, x.client, x.state, models.size());
  if (!by)
    return tl::unexpected{by.error()};
  return score_together(models, by->shares, blend::outputs, on, part, rows);
}

} // namespace

result<trained> ensemble_sgd(const visit_input& x, local_problem& on) {
  return train_ensemble(x, on, mixing::learned);
}

result<trained> tied_ensemble_sgd(const visit_input& x, local_problem& on) {
  return train_ensemble(x, on, mixing::tied);
}

result<scores> ensemble_scores(const home& x, local_problem& on, split part,
                               std::span<const std::uint32_t> rows) {
  return score_ensemble(x, on, part, rows, mixing::learned);
}

result<scores> tied_ensemble_scores(const home& x, local_problem& on,
                                    split part,
                                    std::span<const std::uint32_t> rows) {
  return score_ensemble(x, on, part, rows, mixing::tied);
}

void summarise_ensembles(const evaluation_input& x, const local_problem& on,
                         evaluated& to) {
  summarise_routers(kept_shares(x, on.blocks.family(model_family).size()), on,
                    to);
}

} // namespace troupe::models
