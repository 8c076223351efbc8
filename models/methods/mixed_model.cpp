#include "models/methods/mixed_model.hpp"

#include <algorithm>

#include "models/families.hpp"
#include "models/methods/local_loop.hpp"
#include "models/methods/visit_blocks.hpp"

namespace troupe::models {

namespace {

/// Not scheduled: who begins anew has as far to go late as early.
double warm_rate(const training_options& how) {
  for (const auto* name : {"warm_rate", "router_rate"})
    if (const auto said = option_or(how, name, 0); said > 0)
      return said;
  return how.learning_rate;
}

} // namespace

std::vector<double> mixed_model::at_least(std::vector<double> shares) const {
  for (auto& x : shares)
    x = std::max(x, floor);
  return shares;
}

bool is_stateless(const training_options& how) {
  return option_or(how, "stateless", 0) != 0;
}

result<mixed_model> make_mixed_model(client_id client,
                                     const client_state* state,
                                     const local_problem& on, sharing how,
                                     mixed_parts from, std::uint64_t seed) {
  mixed_model x{.base = {from.base.begin(), from.base.end()},
                .by = {.logits = {}, .shares = {1}},
                .floor = option_or(on.how, "share_floor", 0)};
  std::vector<float> fresh;
  if (how) {
    auto by = router_of(*how, client, state, from.adapters.size());
    if (!by)
      return tl::unexpected{by.error()};
    x.by = std::move(*by);
  } else {
    fresh = initial_adapter(*on.adapters, derive_seed(seed, "own adapter"));
    const auto own = own_or(state, own_adapter_family, fresh);
    if (!own)
      return tl::unexpected{own.error()};
    from.adapters = {*own};
  }
  for (const auto& y : from.adapters)
    x.adapters.emplace_back(y.begin(), y.end());
  return x;
}

std::uint64_t warm_passes(const training_options& how) {
  return static_cast<std::uint64_t>(
    std::max(0.0, option_or(how, "warm_passes", 0)));
}

mixture_trainer::mixture_trainer(local_problem& on, mixed_model& what)
  : on_(on),
    what_(what),
    mix_(*on.adapters, on.arithmetic),
    adapter_rate_(rate_or(on, "adapter_rate")),
    router_rate_(rate_or(on, "router_rate")),
    epsilon_(option_or(on.how, "epsilon", 0)),
    noise_(option_or(on.how, "router_noise", 0)) {
  // nop
}

result<void> mixture_trainer::warm_up(std::uint64_t steps, std::uint64_t seed) {
  const kept_statistics statistics{on_.model};
  batch_sequence batches{on_.rows, on_.how, seed};
  const auto rate = warm_rate(on_.how);
  result<void> done;
  for (std::uint64_t i = 0; done && i < warm_passes(on_.how) * steps; ++i) {
    done = differentiate(batches.next(), derive_seed(seed, "operators", i),
                         what_.by.shares)
             .map([&](double) {
               what_.by.descend(what_.by.shares, slopes_.shares, rate);
             });
    std::ranges::fill(on_.model.gradient(), 0.f);
  }
  return done;
}

result<double> mixture_trainer::run(std::uint64_t steps, std::uint64_t seed) {
  batch_sequence batches{on_.rows, on_.how, seed};
  random_stream noise{derive_seed(seed, "router noise")};
  double total = 0;
  for (std::uint64_t i = 0; i < steps; ++i) {
    const auto loss =
      step(batches.next(), derive_seed(seed, "operators", i), noise);
    if (!loss) {
      std::ranges::fill(on_.model.gradient(), 0.f);
      return loss;
    }
    total += *loss;
  }
  return total / static_cast<double>(steps);
}

result<double> mixture_trainer::step(std::span<const std::uint32_t> rows,
                                     std::uint64_t seed, random_stream& noise) {
  const auto shares = what_.by.noisy_shares(noise, noise_);
  const auto loss = differentiate(rows, seed, shares);
  if (!loss)
    return loss;
  for (std::size_t c = 0; c < shares.size(); ++c)
    if (shares[c] > 0 || what_.floor > 0)
      descend(what_.adapters[c], slopes_.adapters[c]);
  what_.by.descend(shares, slopes_.shares, router_rate_);
  const auto done = on_.arithmetic.step(
    kernels::sgd_step{.rate = static_cast<float>(on_.rate)},
    {.weights = what_.base, .gradient = on_.model.gradient()});
  if (!done)
    return tl::unexpected{done.error()};
  return loss;
}

result<double>
mixture_trainer::differentiate(std::span<const std::uint32_t> rows,
                               std::uint64_t seed,
                               const std::vector<double>& shares) {
  const auto views = what_.views();
  const auto parts = what_.at_least(shares);
  if (auto ok = mix_.compose(what_.base, views, parts, on_.model.parameters());
      !ok)
    return tl::unexpected{ok.error()};
  const auto loss = on_.model.backward(rows, seed);
  if (!loss)
    return loss;
  return mix_.pull_back(on_.model.gradient(), views, parts, slopes_).map([&] {
    // Below the floor nothing changes with the share.
    for (std::size_t c = 0; c < shares.size(); ++c)
      if (shares[c] < what_.floor)
        slopes_.shares[c] = 0;
    return *loss;
  });
}

void mixture_trainer::descend(std::vector<float>& adapter,
                              std::vector<float>& slopes) const {
  if (epsilon_ > 0)
    precondition(*on_.adapters, adapter, epsilon_, slopes);
  const auto rate = static_cast<float>(adapter_rate_);
  for (std::size_t j = 0; j < adapter.size(); ++j)
    adapter[j] -= rate * slopes[j];
}

} // namespace troupe::models
