// CoMiGS (Fan et al. 2025): each feed-forward block of a language model that
// nobody trains is several experts, of which a router chooses two for each
// token. Experts learn from training rows; after every `router_every` steps of
// a client's life its routers make `router_steps` of their own, from validation
// rows. Neither phase sees a gradient of the other's. Generalists are merged,
// specialists and routers stay, and so do all moments. And pFedMoE (Yi et al.
// 2024) over the same blocks, where routers learn with the experts.
//
// With `grad_leak_compat` each phase leaves what it made of the other's
// gradient where it lies, as the authors' program does: the next step of the
// other phase takes it along, in the next visit, too.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/random.hpp"
#include "core/text.hpp"
#include "models/inner_setup.hpp"
#include "models/methods/built_in.hpp"
#include "models/methods/merged_scores.hpp"
#include "models/visit/visit.hpp"

namespace troupe::models {

namespace {

/// Under which a client keeps the moments of the second phase, and what one has
/// left of the other's gradient.
constexpr std::string_view of_routers = router_family;
constexpr const char* left_gradient = "left.gradient";

/// A group of the live model, and where its factors lie among the parameters.
struct placed_group {
  std::string name;
  std::size_t at = 0;
  std::size_t size = 0;
  const adapter_plan* plan = nullptr;

  bool is_router() const noexcept {
    return name == router_family;
  }
};

std::vector<placed_group> groups_of(const local_problem& on) {
  std::vector<placed_group> all;
  std::size_t at = 0;
  for (const auto& x : on.model.inside()->groups()) {
    all.push_back(
      {.name = x.name, .at = at, .size = x.plan.size(), .plan = &x.plan});
    at += x.plan.size();
  }
  return all;
}

/// Whether all clients share a group, by what the recipe says of its family.
bool is_shared(const recipe& method, const placed_group& x) {
  const std::string_view family{x.name.data(),
                                std::min(x.name.find('.'), x.name.size())};
  return std::ranges::any_of(method.blocks, [&](const block_spec& y) {
    return y.name == family && y.where == scope::shared;
  });
}

/// What a client's own begins with: of who learns alone the same as of all
/// others, as in the authors' program. Routers that choose for nobody in
/// particular prefer none.
std::vector<float> first_values(const placed_group& x, std::uint64_t seed,
                                double deviation, bool is_somebodys) {
  if (!x.is_router())
    return initial_adapter(*x.plan, derive_seed(seed, x.name));
  std::vector<float> values;
  values.reserve(x.size);
  random_stream random{derive_seed(seed, x.name)};
  for (const auto& tensor : x.plan->tensors) {
    const bool is_drawn = is_somebodys && tensor.shape.size() > 1;
    for (std::size_t i = 0; i < tensor.size(); ++i)
      values.push_back(
        is_drawn ? static_cast<float>(deviation * random.normal()) : 0.f);
  }
  return values;
}

result<void> load(const visit& v, const placed_group& x, moment when,
                  bool is_somebodys) {
  const auto live = v.parameters().part(x.at, x.size);
  const auto put = [&](const_array from) { return v.copy(from, live); };
  if (!is_shared(v.on.method, x)) {
    const auto first =
      first_values(x, v.on.method.offers ? v.in.seed : v.on.first_seed,
                   v.on.inside->routing.deviation, is_somebodys);
    return v.own_or(x.name, first).and_then(put);
  }
  const auto base = v.base(x.name, x.size);
  if (!base)
    return tl::unexpected{base.error()};
  // In a client's first visit it may be the client's own.
  const bool is_first = is_somebodys && steps_of_experts(v.in.state.get()) == 0;
  if (is_first && v.option("generalist_start") != 0)
    return v.copy(initial_adapter(*x.plan, derive_seed(v.in.seed, x.name)),
                  live);
  // Where nobody offers, what was fetched is where all begin.
  if (when == moment::as_left || !v.on.method.offers)
    return v.own_or(left_of(x.name), base->values).and_then(put);
  return put(base->values);
}

/// Attaches what a model of so many experts has, and makes its values live.
result<void> load_all(const visit& v, std::uint32_t experts, moment when,
                      bool is_somebodys) {
  if (auto ok = attach_for(v.on, experts); !ok)
    return ok;
  if (auto ok = v.load_buffers(buffers_family); !ok)
    return ok;
  for (const auto& x : groups_of(v.on))
    if (auto ok = load(v, x, when, is_somebodys); !ok)
      return ok;
  return {};
}

/// What a client uses itself. Who has not trained yet uses what all share.
result<void> settle(const visit& v, moment when) {
  const bool is_somebodys = steps_of_experts(v.in.state.get()) > 0;
  const auto experts =
    experts_of(v.on, is_somebodys ? v.in.visit.client : client_id{});
  return load_all(v, experts, when, is_somebodys);
}

/// Who learns in which phase.
enum class phase : std::uint8_t { experts, routers, all };

void begin(const local_problem& on, const std::vector<placed_group>& groups,
           phase now) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto own = groups[i].is_router() ? phase::routers : phase::experts;
    on.model.inside()->switch_on(i, now == phase::all || now == own);
  }
}

/// The rows that routers learn from.
result<row_span> rows_of_routers(const visit& v) {
  const auto rows =
    v.option("router_data") != 0 ? v.on.rows : v.validation_rows();
  if (!rows.empty())
    return rows;
  return fail(errc::invalid_argument,
              "method " + in_quotes(v.on.method.name)
                + " trains routers on validation rows, and client "
                + std::to_string(v.in.visit.client.value) + " has none");
}

/// What the two optimisers of a visit have of the parameters: routers come
/// last.
struct learned_parts {
  std::size_t experts = 0;
  std::size_t all = 0;

  bool has_routers() const noexcept {
    return experts < all;
  }
};

/// Steps of the routers alone.
task<done> burst(visit& v, batch_sequence& from, optimiser& by,
                 learned_parts sizes) {
  const auto steps = static_cast<std::uint64_t>(v.option("router_steps"));
  const auto size = sizes.all - sizes.experts;
  for (std::uint64_t i = 0; i < steps; ++i) {
    co_await v.differentiate(from.next_batch());
    co_await v.update(by.next(v.parameters().part(sizes.experts, size),
                              v.gradient().part(sizes.experts, size)));
  }
  co_return {};
}

/// What an earlier visit left of a gradient, where the model has its size.
result<void> take_up_gradient(const visit& v) {
  if (v.in.state == nullptr)
    return {};
  const auto& kept = v.in.state->moments;
  const auto found = kept.find(left_gradient);
  if (found == kept.end()
      || found->second.own_view().size() != v.gradient().size())
    return {};
  return v.copy(found->second.own_view(), v.gradient());
}

/// The visit's steps of the experts, with bursts of the routers between them.
/// Gives the mean loss before them.
task<double> learn_apart(visit& v, const std::vector<placed_group>& groups) {
  const learned_parts sizes{.experts = groups.back().is_router()
                                         ? groups.back().at
                                         : v.parameters().size(),
                            .all = v.parameters().size()};
  const auto* state = v.in.state.get();
  optimiser by{v.on, sizes.experts, state, experts_optimiser};
  optimiser by_routers{v.on, sizes.all - sizes.experts, state,
                       std::string{of_routers}};
  by_routers.hold(v.option("router_rate"));
  const bool leaks = sizes.has_routers() && v.option("grad_leak_compat") != 0;
  const auto every = static_cast<std::uint64_t>(v.option("router_every"));
  batch_sequence from{v.on.rows, v.on.how, v.in.seed};
  auto rows = v.on.rows;
  if (sizes.has_routers())
    rows = co_await rows_of_routers(v);
  batch_sequence of_routers_alone{rows, v.on.how,
                                  derive_seed(v.in.seed, of_routers)};
  begin(v.on, groups, leaks ? phase::all : phase::experts);
  if (leaks)
    co_await take_up_gradient(v);
  double total = 0;
  for (std::uint64_t i = 0; i < v.plan.steps; ++i) {
    total += co_await v.differentiate(from.next_batch());
    co_await v.update(by.next(v.parameters().part(0, sizes.experts),
                              v.gradient().part(0, sizes.experts)));
    if (!sizes.has_routers() || every == 0 || by.count() % every != 0)
      continue;
    begin(v.on, groups, leaks ? phase::all : phase::routers);
    co_await burst(v, of_routers_alone, by_routers, sizes);
    begin(v.on, groups, leaks ? phase::all : phase::experts);
  }
  by.keep(v.out.next);
  if (sizes.has_routers())
    by_routers.keep(v.out.next);
  if (leaks)
    v.out.next.moments[left_gradient] =
      personal_values{brought_here(v.gradient())};
  co_return total;
}

/// All of it along one gradient, from training rows.
task<double> learn_together(visit& v) {
  optimiser by{v.on, v.parameters().size(), v.in.state.get(), experts_optimiser};
  batch_sequence from{v.on.rows, v.on.how, v.in.seed};
  double total = 0;
  for (std::uint64_t i = 0; i < v.plan.steps; ++i) {
    total += co_await v.differentiate(from.next_batch());
    co_await v.update(by.next(v.parameters(), v.gradient()));
  }
  by.keep(v.out.next);
  co_return total;
}

/// Offers what is shared, and remembers it as the client leaves it; keeps the
/// rest.
result<void> hand_in(visit& v, const std::vector<placed_group>& groups) {
  for (const auto& x : groups) {
    const auto now = v.parameters().part(x.at, x.size);
    const bool shared = is_shared(v.on.method, x);
    if (shared && v.on.method.offers) {
      const auto done =
        v.base(x.name, x.size).and_then([&](const base_block& base) {
          return v.offer(base, now);
        });
      if (!done)
        return done;
    }
    if (auto ok = v.keep(shared ? left_of(x.name) : x.name, now); !ok)
      return ok;
  }
  return {};
}

task<done> train_routed(visit& v, bool together) {
  const auto experts = experts_of(v.on, v.in.visit.client);
  co_await load_all(v, experts, moment::as_merged, true);
  const auto groups = groups_of(v.on);
  double total = 0;
  if (together)
    total = co_await learn_together(v);
  else
    total = co_await learn_apart(v, groups);
  v.out.loss = total / static_cast<double>(v.plan.steps);
  co_await hand_in(v, groups);
  co_return {};
}

task<done> train_as_said(visit& v) {
  return train_routed(v, v.option("joint") != 0);
}

task<done> train_together(visit& v) {
  return train_routed(v, true);
}

task<done> routed_home(visit& v) {
  co_await settle(v, moment::as_left);
  co_return {};
}

/// With the generalist as it is merged.
task<done> routed_merged_home(visit& v) {
  co_await settle(v, moment::as_merged);
  co_return {};
}

void summarise_routed(const evaluation_input& x, const local_problem& on,
                      evaluated& to) {
  if (on.method.offers)
    score_merged(x, on, routed_merged_home, to);
}

} // namespace

const local_method routed_sgd{
  .train = train_as_said, .home = routed_home, .summary = summarise_routed};
const local_method jointly_routed_sgd{
  .train = train_together, .home = routed_home, .summary = summarise_routed};

} // namespace troupe::models
