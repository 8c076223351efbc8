// FLoRAL. A client's model is the base and the mixture of the adapters,
//
//   w + sum of pi_c a_c,   pi = softmax(theta),
//
// made live before each step, so that one forward and one backward pass give
// the gradient of all: the base's as it is, an adapter's by its factors and
// times its share, the router's by the slope along each share. All three step
// at once, from the same point; the adapters' gradients are preconditioned. The
// router learns alone before that where it is asked to. What travels is
// offered, and the router is kept if clients have a memory.

#include <algorithm>
#include <string>

#include "models/adapters/centring.hpp"
#include "models/methods/built_in.hpp"
#include "models/methods/client_router.hpp"
#include "models/methods/live_mixture.hpp"

namespace troupe::models {

namespace {

/// Where the shares come from; nothing: the client has one adapter, of its own,
/// which never travels.
using sharing = std::optional<mixing>;

struct mixed_model {
  live_mixture live;
  array base;
  std::vector<std::vector<float>> adapters = {};
  client_router by = {};
  double floor = 0;

  std::vector<std::span<const float>> views() const {
    return {adapters.begin(), adapters.end()};
  }

  /// What the adapters count with at these shares: no less than `floor`, and
  /// then together with more than 1.
  std::vector<double> at_least(std::vector<double> shares) const {
    for (auto& x : shares)
      x = std::max(x, floor);
    return shares;
  }
};

bool is_stateless(const training_options& how) {
  return option_of(how, "stateless") != 0;
}

std::uint64_t warm_passes(const training_options& how) {
  return static_cast<std::uint64_t>(option_of(how, "warm_passes"));
}

/// Not scheduled: who begins anew has as far to go late as early.
double warm_rate(const training_options& how) {
  for (const auto* name : {"warm_rate", "router_rate"})
    if (const auto said = option_of(how, name); said > 0)
      return said;
  return how.learning_rate;
}

result<void> check_has_adapters(const visit& v) {
  if (v.on.adapters == nullptr)
    return fail(errc::invalid_config,
                "the recipe trains adapters and has no block of them");
  return {};
}

result<base_block> base_of(const visit& v) {
  return v.base(model_family, v.on.adapters->model_size);
}

/// A client's model of what it shares with others and what it keeps. An adapter
/// of its own begins as one that changes nothing.
result<mixed_model> mixed_model_of(visit& v, sharing how,
                                   const base_block& base,
                                   std::span<const base_block> adapters) {
  auto live = live_mixture::make(v.on, how ? adapters.size() : 1);
  if (!live)
    return tl::unexpected{live.error()};
  mixed_model x{.live = std::move(*live),
                .base = v.copy_of(base.values),
                .by = {.logits = {}, .shares = {1}},
                .floor = v.option("share_floor")};
  if (how) {
    for (const auto& y : adapters)
      x.adapters.push_back(brought_here(y.values));
    return router_of(v, *how, adapters.size()).map([&](client_router by) {
      x.by = std::move(by);
      return std::move(x);
    });
  }
  const auto fresh =
    initial_adapter(*v.on.adapters, derive_seed(v.in.seed, "own adapter"));
  return kept_or(v.in.state.get(), own_adapter_family, fresh)
    .map([&](std::span<const float> own) {
      x.adapters.emplace_back(own.begin(), own.end());
      return std::move(x);
    });
}

/// Leaves the gradient of the base with the model. Gives the loss.
task<double> differentiate(visit& v, mixed_model& what, batch on,
                           std::span<const double> shares,
                           adapter_mixture::slopes& to) {
  const auto views = what.views();
  const auto parts = what.at_least({shares.begin(), shares.end()});
  co_await what.live.put(what.base, views, parts);
  const auto loss = co_await v.differentiate(on);
  co_await what.live.take(views, parts, to);
  // Below the floor nothing changes with the share.
  for (std::size_t c = 0; c < shares.size(); ++c)
    if (shares[c] < what.floor)
      to.shares[c] = 0;
  co_return loss;
}

/// The router alone learns, `warm_passes` times as many steps; the model's
/// statistics stay as they are.
task<done> warm_up(visit& v, mixed_model& what, std::uint64_t steps,
                   std::uint64_t seed) {
  const kept_statistics statistics{v.on.model};
  const auto rate = warm_rate(v.on.how);
  batch_sequence from{v.on.rows, v.on.how, seed};
  adapter_mixture::slopes slopes;
  what.live.let_learn(false);
  for (auto n = warm_passes(v.on.how) * steps; n > 0; --n) {
    co_await differentiate(v, what, from.next_batch(), what.by.shares, slopes);
    what.by.descend(what.by.shares, slopes.shares, rate);
    v.forget_gradient();
  }
  what.live.let_learn(true);
  co_return {};
}

/// All of it learns. Gives the mean loss before the steps.
task<double> learn(visit& v, mixed_model& what) {
  const kernels::sgd_step of_base{.rate = static_cast<float>(v.on.rate)};
  const auto of_adapters = rate_or(v, "adapter_rate");
  const auto of_router = rate_or(v, "router_rate");
  const auto epsilon = v.option("epsilon");
  const auto most = v.option("router_noise");
  batch_sequence from{v.on.rows, v.on.how, v.in.seed};
  random_stream noise{derive_seed(v.in.seed, "router noise")};
  adapter_mixture::slopes slopes;
  double total = 0;
  for (std::uint64_t i = 0; i < v.plan.steps; ++i) {
    const auto shares = what.by.noisy_shares(noise, most);
    total += co_await differentiate(v, what, from.next_batch(), shares, slopes);
    for (std::size_t c = 0; c < shares.size(); ++c) {
      if (shares[c] == 0 && what.floor == 0)
        continue;
      auto& adapter = what.adapters[c];
      auto& along = slopes.adapters[c];
      if (epsilon > 0)
        precondition(*v.on.adapters, adapter, epsilon, along);
      co_await v.move(adapter, adapter, -of_adapters, along);
    }
    what.by.descend(shares, slopes.shares, of_router);
    co_await v.update(
      of_base, {.weights = what.base, .gradient = what.live.slopes_of_base()});
  }
  co_return total / static_cast<double>(v.plan.steps);
}

task<done> train_mixture(visit& v, sharing how) {
  co_await check_has_adapters(v);
  const auto base = co_await base_of(v);
  co_await v.load_buffers(buffers_family);
  const auto fetched = co_await v.all_of(adapter_family, v.on.adapters->size());
  auto what = co_await mixed_model_of(v, how, base, fetched);
  // All clients of a version come to the same, so the server needs no word of
  // it: what is offered is the difference from what was fetched.
  if (v.option("centred") != 0)
    co_await centre(*v.on.adapters, v.on.arithmetic, what.base, what.adapters);
  co_await warm_up(v, what, v.plan.steps, derive_seed(v.in.seed, "router"));
  v.out.loss = co_await learn(v, what);
  co_await v.offer(base, what.base);
  co_await v.offer_buffers();
  if (!how) {
    co_await v.keep(own_adapter_family, what.adapters.front());
    co_return {};
  }
  for (std::size_t c = 0; c < fetched.size(); ++c)
    co_await v.offer(fetched[c], what.adapters[c], what.by.shares[c]);
  if (is_stateless(v.on.how))
    what.by.logits.clear(); // Told, and not kept.
  co_await keep_router(what.by, v);
  co_return {};
}

/// What a client would use itself: a router that it has not kept is one that it
/// learns on its training rows.
task<mixed_model> model_at_home(visit& v, sharing how) {
  co_await check_has_adapters(v);
  const auto base = co_await base_of(v);
  const auto adapters =
    co_await v.all_of(adapter_family, v.on.adapters->size());
  auto what = co_await mixed_model_of(v, how, base, adapters);
  const bool kept =
    v.in.state && v.in.state->blocks.contains(std::string{mixture_family});
  if (how != mixing::learned || kept || v.on.rows.empty())
    co_return what;
  auto all = v.on.how;
  all.stragglers = 0;
  const auto steps = plan_visit(all, v.on.rows.size(), 0).steps;
  co_await warm_up(v, what, steps,
                   derive_seed(v.in.visit.client.value, "home"));
  co_return what;
}

task<done> home_of(visit& v, sharing how) {
  auto what = co_await model_at_home(v, how);
  co_await what.live.put(what.base, what.views(),
                         what.at_least(what.by.shares));
  co_return {};
}

/// The shares that clients without a memory learn on their training rows.
shares_by_client learned_shares(const evaluation_input& x,
                                const local_problem& on) {
  shares_by_client shares;
  const evaluation_input nothing_kept{.versions = x.versions, .states = {}};
  for (std::size_t k = 0; k < on.clients->train.size(); ++k) {
    const client_id client{k + 1};
    if (on.clients->train[k].empty())
      continue;
    auto found =
      look(at_home(client, nothing_kept), with_rows_of(client, on),
           [](visit& v) { return model_at_home(v, mixing::learned); });
    if (found)
      shares[client] = std::move(found->by.shares);
  }
  return shares;
}

template <sharing (*How)()>
task<done> train_sharing(visit& v) {
  return train_mixture(v, How());
}

template <sharing (*How)()>
task<done> mixture_home(visit& v) {
  return home_of(v, How());
}

sharing learned() {
  return mixing::learned;
}

sharing tied() {
  return mixing::tied;
}

sharing alone() {
  return {};
}

void summarise_mixture(const evaluation_input& x, const local_problem& on,
                       evaluated& to) {
  summarise_routers(is_stateless(on.how)
                      ? learned_shares(x, on)
                      : kept_shares(x, on.blocks.family(adapter_family).size()),
                    on, to);
}

std::uint64_t mixture_passes(const training_options& how) {
  return 1 + warm_passes(how);
}

} // namespace

const local_method mixed_sgd{.train = train_sharing<learned>,
                             .home = mixture_home<learned>,
                             .summary = summarise_mixture,
                             .passes = mixture_passes,
                             .needs = check_plain_sgd,
                             .learns_around = true};
const local_method tied_sgd{.train = train_sharing<tied>,
                            .home = mixture_home<tied>,
                            .needs = check_plain_sgd,
                            .learns_around = true};
const local_method own_adapter_sgd{.train = train_sharing<alone>,
                                   .home = mixture_home<alone>,
                                   .needs = check_plain_sgd,
                                   .learns_around = true};

} // namespace troupe::models
