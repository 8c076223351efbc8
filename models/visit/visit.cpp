#include "models/visit/visit.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "core/assert.hpp"
#include "core/limits.hpp"
#include "core/text.hpp"
#include "models/divergence.hpp"

namespace troupe::models {

namespace {

/// The name of the tensor that holds value `i`, for people.
std::string tensor_at(const block_layout& block, std::size_t i) {
  for (const auto& x : block.tensors) {
    if (i < x.size())
      return x.name;
    i -= x.size();
  }
  return "?";
}

/// out = a - b over `n` values. Returns whether all of it is finite. A whole
/// model goes through here at each visit: an inner loop of a length that the
/// compiler knows, over arrays that cannot overlap, becomes vectors, ten times
/// as fast.
bool subtract(const float* __restrict a, const float* __restrict b,
              float* __restrict out, std::size_t n) {
  // Where all bits of the exponent are set, adding to it carries into the top
  // bit.
  std::uint32_t bad = 0;
  const auto one = [&](std::size_t j) {
    const float x = a[j] - b[j];
    out[j] = x;
    bad |= (std::bit_cast<std::uint32_t>(x) & 0x7f800000u) + 0x00800000u;
  };
  std::size_t j = 0;
  for (; j + 16 <= n; j += 16)
    for (int i = 0; i < 16; ++i)
      one(j + i);
  for (; j < n; ++j)
    one(j);
  return bad >> 31 == 0;
}

/// a - b, tile by tile: a vector that begins as zeros would be written twice.
std::vector<float> difference(std::span<const float> a,
                              std::span<const float> b, bool& finite) {
  std::vector<float> result;
  result.reserve(a.size());
  std::array<float, 1024> tile;
  finite = true;
  for (std::size_t at = 0; at < a.size(); at += tile.size()) {
    const auto n = std::min(tile.size(), a.size() - at);
    finite &= subtract(a.data() + at, b.data() + at, tile.data(), n);
    result.insert(result.end(), tile.begin(),
                  tile.begin() + static_cast<std::ptrdiff_t>(n));
  }
  return result;
}

result<double> weight_of(const block_layout& block, const local_problem& on,
                         std::optional<double> part) {
  switch (block.weight) {
    case weight_rule::examples:
      return on.weight;
    case weight_rule::one:
      return 1.0;
    case weight_rule::rank_norm:
      if (part)
        return *part;
      [[fallthrough]];
    case weight_rule::examples_times_share:
      if (part)
        return on.weight * *part;
      [[fallthrough]];
    case weight_rule::one_times_share:
      if (part)
        return *part;
      [[fallthrough]];
    default:
      return fail(errc::invalid_config,
                  "block " + in_quotes(block.name)
                    + ": its weight depends on a share or a rank, which this "
                      "procedure does not know; use examples or one");
  }
}

/// Where these buffers live. A model of the client's own has buffers of its
/// own.
scope scope_of_buffers(const recipe& method, std::string_view name) {
  if (name == own_buffers_family)
    return scope::personal;
  const auto found = std::ranges::find(method.blocks, name, &block_spec::name);
  return found == method.blocks.end() ? scope::frozen : found->where;
}

} // namespace

result<std::span<const float>> kept_or(const client_state* state,
                                       std::string_view name,
                                       std::span<const float> otherwise) {
  if (!state)
    return otherwise;
  const auto found = state->blocks.find(std::string{name});
  if (found == state->blocks.end())
    return otherwise;
  const auto values = found->second.own_view();
  if (values.size() != otherwise.size())
    return fail(errc::invalid_argument, "the client keeps "
                                          + std::to_string(values.size())
                                          + " values of " + in_quotes(name)
                                          + " where the model here has "
                                          + std::to_string(otherwise.size()));
  return values;
}

std::vector<float> brought_here(const_array x) {
  return {x.host().begin(), x.host().end()};
}

visit::visit(visit_input x, const local_problem& problem, cohort& with,
             std::size_t place, purpose why)
  : in(std::move(x)),
    on(problem),
    plan(plan_visit(on.how, on.rows.size(), in)),
    with_(with),
    place_(place) {
  if (why == purpose::to_look)
    return;
  if (in.state)
    out.next = *in.state;
  ++out.next.visits;
  out.steps = plan.steps;
  if (on.how.own_steps > 0 && !plan.idle())
    out.next.counters[own_steps_counter] += plan.steps;
}

visit::~visit() {
  if (has_gradient_)
    forget_gradient();
  for (auto& x : rooms_)
    with_.rooms().give_back(std::move(x));
}

result<base_block> visit::base(std::string_view name, std::size_t size) const {
  const auto* layout = on.blocks.find(name);
  if (layout == nullptr)
    return fail(errc::invalid_argument, "the recipe has no travelling block "
                                          + in_quotes(name)
                                          + ", which its procedure trains");
  const auto* fetched = in.find(layout->id);
  if (fetched == nullptr)
    return fail(errc::invalid_argument,
                "the visit did not fetch block " + in_quotes(name)
                  + "; a leg of the recipe must name it");
  if (fetched->values->size() != size)
    return fail(errc::invalid_argument,
                "block " + in_quotes(name) + " has "
                  + std::to_string(fetched->values->size())
                  + " values where the model here has " + std::to_string(size));
  return base_block{layout, *fetched->values};
}

result<std::vector<base_block>> visit::all_of(std::string_view family,
                                              std::size_t size) const {
  return instances(on.blocks.family(family), size);
}

result<std::vector<base_block>> visit::fetched_of(std::string_view family,
                                                  std::size_t size) const {
  auto ids = on.blocks.family(family);
  std::erase_if(ids, [&](block_id x) { return in.find(x) == nullptr; });
  return instances(ids, size);
}

result<std::vector<base_block>> visit::instances(std::span<const block_id> ids,
                                                 std::size_t size) const {
  std::vector<base_block> found;
  for (const auto id : ids) {
    const auto one = base(on.blocks.find(id)->name, size);
    if (!one)
      return tl::unexpected{one.error()};
    found.push_back(*one);
  }
  return found;
}

result<const_array> visit::frozen(std::string_view name) const {
  if (on.frozen)
    if (const auto found = on.frozen->find(std::string{name});
        found != on.frozen->end())
      return const_array{*found->second};
  return fail(errc::invalid_argument,
              "there are no values of a frozen block " + in_quotes(name));
}

visit::row_span visit::validation_rows() const {
  const auto client = in.visit.client.value;
  if (!on.clients || client == 0 || client > on.clients->own_validation.size())
    return {};
  return on.clients->own_validation[client - 1];
}

result<const_array> visit::own_or(std::string_view name,
                                  const_array otherwise) const {
  return kept_or(in.state.get(), name, otherwise.host())
    .map([](std::span<const float> x) { return const_array{x}; });
}

array visit::room(std::size_t size) {
  rooms_.emplace_back(); // Where there is no room for it, none was taken.
  rooms_.back() = with_.rooms().take(size);
  return rooms_.back();
}

array visit::scratch() {
  if (scratch_.empty())
    scratch_ = room(parameters().size());
  return scratch_;
}

array visit::copy_of(const_array x) {
  const auto to = room(x.size());
  std::copy(x.host().begin(), x.host().end(), to.host().begin());
  return to;
}

result<void> visit::keep(std::string_view name, const_array kept) {
  const auto values = kept.host();
  if (!std::ranges::all_of(values, [](float v) { return std::isfinite(v); }))
    return fail(errc::diverged, "block " + in_quotes(name)
                                  + " of a client is not finite any more; "
                                  + against_divergence);
  out.next.blocks[std::string{name}] =
    personal_values{{values.begin(), values.end()}};
  return {};
}

void visit::load(const_array x) const {
  TROUPE_ASSERT(x.size() == parameters().size());
  // Unlike that of ranges, it copies blocks with every compiler.
  std::copy(x.host().begin(), x.host().end(), on.model.parameters().begin());
}

result<void> visit::load_buffers(std::string_view name) const {
  on.model.begin();
  const auto live = on.model.buffers();
  if (live.empty())
    return {};
  const auto where = scope_of_buffers(on.method, name);
  if (where == scope::shared)
    return base(name, live.size()).map([&](const base_block& x) {
      std::ranges::copy(x.values.host(), live.begin());
    });
  const auto fresh = on.model.initial_buffers();
  const auto state = where == scope::personal ? in.state.get() : nullptr;
  return kept_or(state, name, fresh).map([&](std::span<const float> x) {
    std::ranges::copy(x, live.begin());
  });
}

result<void> visit::keep_buffers(std::string_view name) {
  const auto live = on.model.buffers();
  const bool own = scope_of_buffers(on.method, name) == scope::personal;
  return live.empty() || !own ? result<void>{} : keep(name, live);
}

result<base_block> visit::take(std::string_view name) const {
  return base(name, parameters().size()).and_then([&](const base_block& x) {
    load(x.values);
    return load_buffers(buffers_family).map([&] { return x; });
  });
}

result<void> visit::offer(const base_block& base, const_array now,
                          std::optional<double> part) {
  if (part && *part < limits::share_min)
    return {};
  const auto weight = weight_of(*base.layout, on, part);
  if (!weight)
    return tl::unexpected{weight.error()};
  bool finite = true;
  auto delta = difference(now.host(), base.values.host(), finite);
  if (!finite) {
    const auto bad =
      std::ranges::find_if(delta, [](float v) { return !std::isfinite(v); });
    const auto at = static_cast<std::size_t>(bad - delta.begin());
    return fail(errc::diverged, "block " + in_quotes(base.layout->name)
                                  + " diverged in tensor "
                                  + in_quotes(tensor_at(*base.layout, at))
                                  + ": its values are not finite any more; "
                                  + against_divergence);
  }
  const auto id = base.layout->id;
  const auto place =
    std::ranges::upper_bound(out.parts, id, {}, &offered_block::block);
  out.parts.insert(
    place, {.block = id, .weight = *weight, .delta = share(std::move(delta))});
  return {};
}

result<void> visit::offer_buffers() {
  if (auto done = keep_buffers(buffers_family); !done)
    return done;
  const auto live = on.model.buffers();
  if (live.empty()
      || scope_of_buffers(on.method, buffers_family) != scope::shared)
    return {};
  return base(buffers_family, live.size()).and_then([&](const base_block& x) {
    return offer(x, live);
  });
}

result<void> visit::offer_model(const base_block& base) {
  return offer(base, parameters()).and_then([&] { return offer_buffers(); });
}

void visit::make_live(const model_at& x) const {
  if (!x.parameters.empty())
    load(x.parameters);
  if (!x.buffers.empty())
    std::ranges::copy(x.buffers.host(), on.model.buffers().begin());
}

result<double> visit::gradient_of(batch x) {
  has_gradient_ = true;
  return on.model.backward(x.rows, x.seed);
}

result<void> visit::hand_over(array to) {
  return move(to, to, 1, gradient()).map([&] { forget_gradient(); });
}

void visit::forget_gradient() {
  std::ranges::fill(on.model.gradient(), 0.f);
  has_gradient_ = false;
}

task<double> visit::descend(std::uint64_t steps, std::uint64_t seed,
                            step_terms terms) {
  if (terms.proximal != 0 || !terms.correction.empty())
    co_await check_terms(on.how);
  if (terms.still_to > terms.still_from) // Momentum or decay would move it.
    co_await check_plain_sgd(on.method, on.how);
  batch_sequence from{on.rows, on.how, seed};
  optimiser by{on, parameters().size()};
  double total = 0;
  for (std::uint64_t i = 0; i < steps; ++i)
    total += co_await step(from.next_batch(), by, terms);
  co_return steps == 0 ? 0 : total / static_cast<double>(steps);
}

visit_input at_home(client_id client, const evaluation_input& x) {
  const auto state = x.states.find(client);
  return {.visit = {client, {}},
          .progress = 1,
          .fetched = x.versions,
          .chosen = {},
          .state = state == x.states.end() ? nullptr : state->second};
}

local_problem with_rows_of(client_id client, const local_problem& on) {
  auto result = on;
  result.rows = on.clients->train[client.value - 1];
  return result;
}

kept_statistics::kept_statistics(objective& model)
  : model_(model),
    values_(model.buffers().begin(), model.buffers().end()) {
  // nop
}

kept_statistics::~kept_statistics() {
  std::ranges::copy(values_, model_.buffers().begin());
}

} // namespace troupe::models
