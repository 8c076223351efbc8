#include "models/adapters/factor_halves.hpp"

#include <algorithm>

#include "core/assert.hpp"
#include "core/random.hpp"

namespace troupe::models {

namespace {

/// What is no factor, a vector or a head, is of both.
bool is_of(factor_half half, const tensor_spec& x) {
  const auto other = half == factor_half::outer ? ".v" : ".u";
  return x.shape.size() < 2 || !x.name.ends_with(other);
}

} // namespace

tensor_list tensors_of(const tensor_list& adapter, factor_half half) {
  tensor_list result;
  for (const auto& x : adapter)
    if (is_of(half, x))
      result.push_back(x);
  return result;
}

std::vector<float> gather(const adapter_plan& plan, factor_half half,
                          std::span<const float> adapter) {
  TROUPE_ASSERT(adapter.size() == plan.size());
  std::vector<float> result;
  for (const auto& x : plan.tensors) {
    const auto part = adapter.first(x.size());
    adapter = adapter.subspan(x.size());
    if (is_of(half, x))
      result.insert(result.end(), part.begin(), part.end());
  }
  return result;
}

void scatter(const adapter_plan& plan, factor_half half,
             std::span<const float> from, std::span<float> adapter) {
  TROUPE_ASSERT(adapter.size() == plan.size());
  for (const auto& x : plan.tensors) {
    const auto part = adapter.first(x.size());
    adapter = adapter.subspan(x.size());
    if (!is_of(half, x))
      continue;
    TROUPE_ASSERT(from.size() >= part.size());
    std::ranges::copy(from.first(part.size()), part.begin());
    from = from.subspan(part.size());
  }
  TROUPE_ASSERT(from.empty());
}

void add_halves(const tensor_list& adapter,
                std::map<std::string, tensor_list>& shapes) {
  shapes[std::string{inner_factors_family}] =
    tensors_of(adapter, factor_half::inner);
  shapes[std::string{outer_factors_family}] =
    tensors_of(adapter, factor_half::outer);
  shapes[std::string{line_family}] = adapter;
}

std::optional<std::vector<float>> initial_half(const adapter_plan& plan,
                                               std::string_view family,
                                               std::uint64_t seed) {
  const bool is_inner = family == inner_factors_family;
  if (!is_inner && family != outer_factors_family && family != line_family)
    return {};
  auto whole = initial_adapter(plan, derive_seed(seed, "adapter", 0));
  if (family == line_family)
    return whole;
  return gather(plan, is_inner ? factor_half::inner : factor_half::outer,
                whole);
}

std::map<std::string, shared_values>
frozen_factors(const recipe& method, const std::optional<adapter_plan>& plan,
               std::uint64_t seed) {
  std::map<std::string, shared_values> result;
  for (const auto& x : method.blocks)
    if (plan && x.where == scope::frozen)
      if (auto values = initial_half(*plan, x.name, seed))
        result[x.name] = share(std::move(*values));
  return result;
}

} // namespace troupe::models
