// What CoMiGS is compared with: its model without a router. Each feed-forward
// block has two experts of low rank, of which both count the same, and all of
// it learns in one step from one gradient; with experts that all share, or that
// each client has alone. A client is scored as its last visit left it. And
// nobody at all: the base as it came.

#include <string>
#include <vector>

#include "models/inner_adapters.hpp"
#include "models/inner_setup.hpp"
#include "models/methods/built_in.hpp"
#include "models/methods/merged_scores.hpp"
#include "models/visit/visit.hpp"

namespace troupe::models {

namespace {

/// As much as one of CoMiGS's clients has: what all that it is compared with
/// are given.
constexpr std::uint32_t experts = experts_otherwise;

/// A group of factors: the block of its name, which all share or the client
/// keeps. What is shared is kept, too, as the client left it.
struct held_group {
  std::size_t place = 0;
  std::string name;
  std::string kept_as;
  const adapter_plan* plan = nullptr;
  base_block base; ///< What was fetched of a shared one.
};

result<held_group> held(const visit& v, std::size_t place) {
  auto& inside = *v.on.model.inside();
  const auto& group = inside.groups()[place];
  held_group x{.place = place,
               .name = group.name,
               .kept_as = group.name,
               .plan = &group.plan,
               .base = {}};
  if (v.on.blocks.find(group.name) == nullptr)
    return x;
  x.kept_as = left_of(group.name);
  return v.base(group.name, inside.values_of(place).size())
    .map([&](const base_block& base) {
      x.base = base;
      return std::move(x);
    });
}

/// Attaches the experts, and finds what there is of them.
result<std::vector<held_group>> begin_averaged(const visit& v) {
  if (auto ok = attach_for(v.on, experts); !ok)
    return tl::unexpected{ok.error()};
  std::vector<held_group> all;
  for (std::size_t i = 0; i < v.on.model.inside()->groups().size(); ++i) {
    auto one = held(v, i);
    if (!one)
      return tl::unexpected{one.error()};
    all.push_back(std::move(*one));
  }
  return v.load_buffers(buffers_family).map([&] { return std::move(all); });
}

/// Makes a group live. What is a client's own begins as that of all others, as
/// in the authors' program.
result<void> put(const visit& v, const held_group& x, moment when) {
  const array live = v.on.model.inside()->values_of(x.place);
  const bool is_shared = x.base.layout != nullptr;
  if (is_shared && when == moment::as_merged)
    return v.copy(x.base.values, live);
  const auto fresh =
    is_shared ? std::vector<float>{}
              : initial_adapter(*x.plan, derive_seed(v.on.first_seed, x.name));
  return v.own_or(x.kept_as, is_shared ? x.base.values : const_array{fresh})
    .and_then([&](const_array values) { return v.copy(values, live); });
}

task<done> train_averaged(visit& v) {
  const auto groups = co_await begin_averaged(v);
  // Where nothing is merged, what is shared is where all begin.
  const auto when = v.on.method.offers ? moment::as_merged : moment::as_left;
  for (const auto& x : groups)
    co_await put(v, x, when);
  optimiser by{v.on, v.parameters().size(), v.in.state.get(),
               experts_optimiser};
  batch_sequence from{v.on.rows, v.on.how, v.in.seed};
  const step_terms none;
  double total = 0;
  for (std::uint64_t i = 0; i < v.plan.steps; ++i)
    total += co_await v.step(from.next_batch(), by, none);
  v.out.loss = total / static_cast<double>(v.plan.steps);
  by.keep(v.out.next);
  for (const auto& x : groups) {
    const const_array now = v.on.model.inside()->values_of(x.place);
    if (v.on.method.offers && x.base.layout != nullptr)
      co_await v.offer(x.base, now);
    co_await v.keep(x.kept_as, now);
  }
  co_return {};
}

task<done> averaged_home_at(visit& v, moment when) {
  const auto groups = co_await begin_averaged(v);
  for (const auto& x : groups)
    co_await put(v, x, when);
  co_return {};
}

task<done> averaged_home(visit& v) {
  return averaged_home_at(v, moment::as_left);
}

task<done> averaged_merged_home(visit& v) {
  return averaged_home_at(v, moment::as_merged);
}

void summarise_averaged(const evaluation_input& x, const local_problem& on,
                        evaluated& to) {
  if (on.method.offers)
    score_merged(x, on, averaged_merged_home, to);
}

task<done> train_nothing(visit&) {
  co_return {};
}

/// The base alone.
task<done> home_of_base(visit& v) {
  co_await v.load_buffers(buffers_family);
  if (auto* inside = v.on.model.inside(); inside != nullptr) {
    co_await inside->attach({}, &v.on.arithmetic);
  } else {
    const auto base = co_await v.frozen(model_family);
    v.load(base);
  }
  co_return {};
}

} // namespace

const local_method averaged_sgd{.train = train_averaged,
                                .home = averaged_home,
                                .summary = summarise_averaged};
const local_method base_alone{.train = train_nothing, .home = home_of_base};

} // namespace troupe::models
