// FLoRAL. A client's model is the base and the mixture of the adaptors,
//
//   w + sum of pi_c a_c,   pi = softmax(theta),
//
// composed before each step, so that one forward and one backward pass give the
// gradient of all: the base's as it is, an adaptor's by its factors and times
// its share, the router's by the slope along each share. All three step at
// once, from the same point; the adaptors' gradients are preconditioned.

#include <algorithm>
#include <optional>
#include <string>

#include "core/assert.hpp"
#include "models/aligned.hpp"
#include "models/procedures/built_in.hpp"
#include "models/procedures/client_router.hpp"
#include "models/procedures/families.hpp"
#include "models/procedures/local_loop.hpp"
#include "models/procedures/visit_blocks.hpp"

namespace troupe::models {

namespace {

using floats = std::span<const float>;

/// Where the shares come from; nothing: the client has one adaptor, of its own,
/// which never travels.
using sharing = std::optional<mixing>;

/// What a client mixes, and how.
struct mixture {
  std::vector<std::vector<float>> adapters;
  client_router by;

  std::vector<floats> views() const {
    return {adapters.begin(), adapters.end()};
  }
};

/// A client's mixture of what it `shared` with others and what it keeps. An
/// adaptor of its own begins as one that changes nothing, drawn from `seed`.
result<mixture> mixture_of(client_id client, const client_state* state,
                           const local_problem& on, sharing how,
                           std::vector<floats> shared, std::uint64_t seed) {
  mixture x{.adapters = {}, .by = {.logits = {}, .shares = {1}}};
  std::vector<float> fresh;
  if (how) {
    auto by = router_of(*how, client, state, shared.size());
    if (!by)
      return tl::unexpected{by.error()};
    x.by = std::move(*by);
  } else {
    fresh = initial_adapter(*on.adapters, derive_seed(seed, "own adapter"));
    const auto own = own_or(state, own_adapter_family, fresh);
    if (!own)
      return tl::unexpected{own.error()};
    shared = {*own};
  }
  for (const auto& y : shared)
    x.adapters.emplace_back(y.begin(), y.end());
  return x;
}

/// What a visit trains.
struct mixed_model {
  aligned_floats base;
  mixture on_top;
};

struct rates {
  double adapter;
  double router;
};

class trainer_of_mixtures {
public:
  trainer_of_mixtures(local_problem& on, mixed_model& what)
    : on_(on),
      what_(what),
      mix_(*on.adapters, on.arithmetic),
      rates_{rate_or(on, "adapter_rate"), rate_or(on, "router_rate")},
      epsilon_(option_or(on.how, "epsilon", 0)),
      noise_(option_or(on.how, "router_noise", 0)) {
    // nop
  }

  /// Returns the mean loss before the steps.
  result<double> run(std::uint64_t steps, std::uint64_t seed) {
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

private:
  result<double> step(std::span<const std::uint32_t> rows, std::uint64_t seed,
                      random_stream& noise) {
    const auto shares = what_.on_top.by.noisy_shares(noise, noise_);
    const auto views = what_.on_top.views();
    if (auto ok =
          mix_.compose(what_.base, views, shares, on_.model.parameters());
        !ok)
      return tl::unexpected{ok.error()};
    const auto loss = on_.model.backward(rows, seed);
    if (!loss)
      return loss;
    const auto gradient = on_.model.gradient();
    if (auto ok = mix_.pull_back(gradient, views, shares, slopes_); !ok)
      return tl::unexpected{ok.error()};
    for (std::size_t c = 0; c < views.size(); ++c)
      if (shares[c] > 0)
        descend(what_.on_top.adapters[c], slopes_.adapters[c]);
    what_.on_top.by.descend(shares, slopes_.shares, rates_.router);
    const auto done = on_.arithmetic.step(
      kernels::sgd_step{.rate = static_cast<float>(on_.rate)},
      {.weights = what_.base, .gradient = gradient});
    if (!done)
      return tl::unexpected{done.error()};
    return loss;
  }

  void descend(std::vector<float>& adapter, std::vector<float>& slopes) const {
    if (epsilon_ > 0)
      precondition(*on_.adapters, adapter, epsilon_, slopes);
    const auto rate = static_cast<float>(rates_.adapter);
    for (std::size_t j = 0; j < adapter.size(); ++j)
      adapter[j] -= rate * slopes[j];
  }

  local_problem& on_;
  mixed_model& what_;
  adapter_mixture mix_;
  rates rates_;
  double epsilon_;
  double noise_;
  adapter_mixture::slopes slopes_;
};

result<std::vector<base_block>> adapters_of(const visit_input& x,
                                            const local_problem& on) {
  std::vector<base_block> result;
  for (const auto id : on.blocks.family(adapter_family)) {
    const auto found =
      base_of(x, on, on.blocks.find(id)->name, on.adapters->size());
    if (!found)
      return tl::unexpected{found.error()};
    result.push_back(*found);
  }
  return result;
}

result<void> check(const local_problem& on) {
  if (on.adapters == nullptr)
    return fail(errc::invalid_config,
                "the recipe trains adaptors and has no block of them");
  return check_plain_sgd(on);
}

/// Offers what travels, and keeps what does not.
result<void> end_mixture(const visit_input& x, local_problem& on,
                         const base_block& base,
                         std::span<const base_block> fetched,
                         const mixed_model& what, sharing how, trained& out) {
  load_parameters(on.model, what.base);
  if (auto done = end_model(x, on, base, out); !done)
    return done;
  if (!how)
    return keep(own_adapter_family, what.on_top.adapters.front(), out.next);
  for (std::size_t c = 0; c < fetched.size(); ++c)
    if (auto done = offer_difference(fetched[c], what.on_top.adapters[c], on,
                                     out, what.on_top.by.shares[c]);
        !done)
      return done;
  return keep_router(what.on_top.by, out);
}

result<trained> train_mixture(const visit_input& x, local_problem& on,
                              sharing how) {
  if (auto ok = check(on); !ok)
    return tl::unexpected{ok.error()};
  auto out = begin_result(x);
  const auto plan = plan_visit(on.how, on.rows.size(), x.seed);
  out.steps = plan.steps;
  if (plan.idle())
    return out;
  const auto base = begin_model(x, on);
  if (!base)
    return tl::unexpected{base.error()};
  const auto fetched = adapters_of(x, on);
  if (!fetched)
    return tl::unexpected{fetched.error()};
  std::vector<floats> shared;
  for (const auto& y : *fetched)
    shared.push_back(y.values);
  auto begun =
    mixture_of(x.visit.client, x.state.get(), on, how, shared, x.seed);
  if (!begun)
    return tl::unexpected{begun.error()};
  mixed_model what{.base = {base->values.begin(), base->values.end()},
                   .on_top = std::move(*begun)};
  const auto loss = trainer_of_mixtures{on, what}.run(plan.steps, x.seed);
  if (!loss)
    return tl::unexpected{loss.error()};
  out.loss = *loss;
  if (auto done = end_mixture(x, on, *base, *fetched, what, how, out); !done)
    return tl::unexpected{done.error()};
  return out;
}

result<void> home_of(const home& x, local_problem& on, sharing how) {
  if (auto ok = check(on); !ok)
    return ok;
  const auto values = [&](block_id id) -> floats {
    const auto found = std::ranges::find(x.versions, id, &fetched_block::block);
    TROUPE_ASSERT(found != x.versions.end());
    return *found->values;
  };
  std::vector<floats> shared;
  for (const auto id : on.blocks.family(adapter_family))
    shared.push_back(values(id));
  const auto mixed = mixture_of(x.client, x.state, on, how, shared, 0);
  if (!mixed)
    return tl::unexpected{mixed.error()};
  return adapter_mixture{*on.adapters, on.arithmetic}.compose(
    values(on.blocks.find(model_family)->id), mixed->views(), mixed->by.shares,
    on.model.parameters());
}

} // namespace

result<trained> mixed_sgd(const visit_input& x, local_problem& on) {
  return train_mixture(x, on, mixing::learned);
}

result<trained> tied_sgd(const visit_input& x, local_problem& on) {
  return train_mixture(x, on, mixing::tied);
}

result<trained> own_adapter_sgd(const visit_input& x, local_problem& on) {
  return train_mixture(x, on, {});
}

result<void> own_adapter_home(const home& x, local_problem& on) {
  return home_of(x, on, {});
}

result<void> mixed_home(const home& x, local_problem& on) {
  return home_of(x, on, mixing::learned);
}

result<void> tied_home(const home& x, local_problem& on) {
  return home_of(x, on, mixing::tied);
}

void summarise_mixtures(const evaluation_input& x, const local_problem& on,
                        evaluated& to) {
  summarise_routers(x, on, on.blocks.family(adapter_family).size(), to);
}

} // namespace troupe::models
