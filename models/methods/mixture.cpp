// FLoRAL's visits: the router learns alone where it is asked to, then all of
// it; what travels is offered, and the router is kept if clients have a memory.

#include <algorithm>
#include <string>

#include "core/assert.hpp"
#include "models/adapters/centring.hpp"
#include "models/families.hpp"
#include "models/methods/built_in.hpp"
#include "models/methods/local_loop.hpp"
#include "models/methods/mixed_model.hpp"
#include "models/methods/visit_blocks.hpp"

namespace troupe::models {

namespace {

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
                "the recipe trains adapters and has no block of them");
  if (const auto floor = option_or(on.how, "share_floor", 0);
      !(floor >= 0 && floor < 1))
    return fail(errc::invalid_config,
                "option 'share_floor' is from 0 and below 1; found "
                  + std::to_string(floor));
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
    return keep(own_adapter_family, what.adapters.front(), out.next);
  for (std::size_t c = 0; c < fetched.size(); ++c)
    if (auto done = offer_difference(fetched[c], what.adapters[c], on, out,
                                     what.by.shares[c]);
        !done)
      return done;
  auto by = what.by;
  if (is_stateless(on.how))
    by.logits.clear(); // Told, and not kept.
  return keep_router(by, out);
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
  mixed_parts parts{.base = base->values, .adapters = {}};
  for (const auto& y : *fetched)
    parts.adapters.push_back(y.values);
  auto what = make_mixed_model(x.visit.client, x.state.get(), on, how,
                               std::move(parts), x.seed);
  if (!what)
    return tl::unexpected{what.error()};
  // All clients of a version come to the same, so the server needs no word of
  // it: what is offered is the difference from what was fetched.
  if (option_or(on.how, "centred", 0) != 0)
    if (auto done =
          centre(*on.adapters, on.arithmetic, what->base, what->adapters);
        !done)
      return tl::unexpected{done.error()};
  mixture_trainer by{on, *what};
  const auto loss =
    by.warm_up(plan.steps, derive_seed(x.seed, "router")).and_then([&] {
      return by.run(plan.steps, x.seed);
    });
  if (!loss)
    return tl::unexpected{loss.error()};
  out.loss = *loss;
  if (auto done = end_mixture(x, on, *base, *fetched, *what, how, out); !done)
    return tl::unexpected{done.error()};
  return out;
}

/// What a client would use itself: a router that it has not kept is one that it
/// learns on its training rows.
result<mixed_model> model_at_home(const home& x, local_problem& on,
                                  sharing how) {
  if (auto ok = check(on); !ok)
    return tl::unexpected{ok.error()};
  const auto values = [&](block_id id) -> std::span<const float> {
    const auto found = std::ranges::find(x.versions, id, &fetched_block::block);
    TROUPE_ASSERT(found != x.versions.end());
    return *found->values;
  };
  mixed_parts parts{.base = values(on.blocks.find(model_family)->id),
                    .adapters = {}};
  for (const auto id : on.blocks.family(adapter_family))
    parts.adapters.push_back(values(id));
  auto what = make_mixed_model(x.client, x.state, on, how, std::move(parts), 0);
  const bool kept =
    x.state && x.state->blocks.contains(std::string{mixture_family});
  if (!what || how != mixing::learned || kept || on.rows.empty())
    return what;
  auto all = on.how;
  all.stragglers = 0;
  const auto steps = plan_visit(all, on.rows.size(), 0).steps;
  return mixture_trainer{on, *what}
    .warm_up(steps, derive_seed(x.client.value, "home"))
    .map([&] { return std::move(*what); });
}

result<void> home_of(const home& x, local_problem& on, sharing how) {
  return model_at_home(x, on, how).and_then([&](const mixed_model& what) {
    return adapter_mixture{*on.adapters, on.arithmetic}.compose(
      what.base, what.views(), what.at_least(what.by.shares),
      on.model.parameters());
  });
}

/// The shares that clients without a memory learn on their training rows.
shares_by_client learned_shares(const evaluation_input& x, local_problem on) {
  shares_by_client shares;
  const auto& rows = on.clients->train;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    on.rows = rows[k];
    const client_id client{k + 1};
    if (auto found = model_at_home({.client = client, .versions = x.versions},
                                   on, mixing::learned);
        found && !rows[k].empty())
      shares[client] = std::move(found->by.shares);
  }
  return shares;
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
  summarise_routers(is_stateless(on.how)
                      ? learned_shares(x, on)
                      : kept_shares(x, on.blocks.family(adapter_family).size()),
                    on, to);
}

std::uint64_t mixed_passes(const training_options& how) {
  return 1 + warm_passes(how);
}

} // namespace troupe::models
