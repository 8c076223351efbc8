#include "models/methods/visit_blocks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "core/assert.hpp"
#include "core/limits.hpp"
#include "core/text.hpp"

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

result<base_block> base_of(const visit_input& x, const local_problem& on,
                           std::string_view name, std::size_t size) {
  const auto* layout = on.blocks.find(name);
  if (layout == nullptr)
    return fail(errc::invalid_argument, "the recipe has no travelling block "
                                          + in_quotes(name)
                                          + ", which its procedure trains");
  const auto* fetched = x.find(layout->id);
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

result<std::span<const float>> own_or(const client_state* state,
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

void load_parameters(objective& model, std::span<const float> x) {
  TROUPE_ASSERT(x.size() == model.parameters().size());
  // Unlike that of ranges, it copies blocks with every compiler.
  std::copy(x.begin(), x.end(), model.parameters().begin());
}

kept_statistics::kept_statistics(objective& model)
  : model_(model),
    values_(model.buffers().begin(), model.buffers().end()) {
  // nop
}

kept_statistics::~kept_statistics() {
  std::ranges::copy(values_, model_.buffers().begin());
}

result<void> load_buffers(const visit_input& x, local_problem& on,
                          std::string_view name) {
  on.model.begin();
  const auto live = on.model.buffers();
  if (live.empty())
    return {};
  const auto where = scope_of_buffers(on.method, name);
  if (where == scope::shared) {
    const auto base = base_of(x, on, name, live.size());
    if (!base)
      return tl::unexpected{base.error()};
    std::ranges::copy(base->values, live.begin());
    return {};
  }
  const auto fresh = on.model.initial_buffers();
  const auto first =
    where == scope::personal ? own_or(x.state.get(), name, fresh) : fresh;
  if (!first)
    return tl::unexpected{first.error()};
  std::ranges::copy(*first, live.begin());
  return {};
}

result<void> keep(std::string_view name, std::span<const float> values,
                  client_state& next) {
  if (!std::ranges::all_of(values, [](float v) { return std::isfinite(v); }))
    return fail(errc::diverged, "block " + in_quotes(name)
                                  + " of a client is not finite any more; a "
                                    "smaller learning_rate may help");
  next.blocks[std::string{name}] =
    personal_values{{values.begin(), values.end()}};
  return {};
}

result<void> keep_buffers(const local_problem& on, std::string_view name,
                          client_state& next) {
  const auto live = on.model.buffers();
  const bool own = scope_of_buffers(on.method, name) == scope::personal;
  return live.empty() || !own ? result<void>{} : keep(name, live, next);
}

result<void> offer_difference(const base_block& base,
                              std::span<const float> now,
                              const local_problem& on, trained& to,
                              std::optional<double> part) {
  if (part && *part < limits::share_min)
    return {};
  const auto weight = weight_of(*base.layout, on, part);
  if (!weight)
    return tl::unexpected{weight.error()};
  bool finite = true;
  auto delta = difference(now, base.values, finite);
  if (!finite) {
    const auto bad =
      std::ranges::find_if(delta, [](float v) { return !std::isfinite(v); });
    const auto at = static_cast<std::size_t>(bad - delta.begin());
    return fail(errc::diverged, "block " + in_quotes(base.layout->name)
                                  + " diverged in tensor "
                                  + in_quotes(tensor_at(*base.layout, at))
                                  + ": its values are not finite any more; a "
                                    "smaller learning_rate may help");
  }
  const auto id = base.layout->id;
  const auto place =
    std::ranges::upper_bound(to.parts, id, {}, &offered_block::block);
  to.parts.insert(
    place, {.block = id, .weight = *weight, .delta = share(std::move(delta))});
  return {};
}

result<base_block> begin_model(const visit_input& x, local_problem& on,
                               std::string_view name) {
  auto base = base_of(x, on, name, on.model.parameters().size());
  if (!base)
    return base;
  load_parameters(on.model, base->values);
  if (const auto done = load_buffers(x, on, buffers_family); !done)
    return tl::unexpected{done.error()};
  return base;
}

result<void> end_model(const visit_input& x, local_problem& on,
                       const base_block& base, trained& to) {
  return offer_difference(base, on.model.parameters(), on, to).and_then([&] {
    return offer_buffers(x, on, to);
  });
}

result<void> offer_buffers(const visit_input& x, local_problem& on,
                           trained& to) {
  if (auto done = keep_buffers(on, buffers_family, to.next); !done)
    return done;
  const auto live = on.model.buffers();
  if (live.empty()
      || scope_of_buffers(on.method, buffers_family) != scope::shared)
    return {};
  const auto buffers = base_of(x, on, buffers_family, live.size());
  if (!buffers)
    return tl::unexpected{buffers.error()};
  return offer_difference(*buffers, live, on, to);
}

trained begin_result(const visit_input& x) {
  trained result;
  if (x.state)
    result.next = *x.state;
  ++result.next.visits;
  return result;
}

} // namespace troupe::models
