#pragma once

// One of the two factors of all of an adapter's matrices, as a block of its
// own: methods of which one factor travels, and the other stands still or stays
// with the client.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/recipe.hpp"
#include "core/values.hpp"
#include "models/adapters/adapters.hpp"

namespace troupe::models {

/// What an adapter adds is u^T v: the inner factor v sees what goes into a
/// layer, the outer one u says what is added to what comes out.
enum class factor_half : std::uint8_t { inner, outer };

/// The halves as blocks, and an adapter for each client, which it alone offers
/// to.
inline constexpr std::string_view inner_factors_family = "inner_factors";
inline constexpr std::string_view outer_factors_family = "outer_factors";
inline constexpr std::string_view line_family = "model_of";

/// Tensors of a half, in the order in which they lie in the adapter. What is
/// added whole belongs to neither factor, and so to both halves: which is put
/// in place last says it. @param adapter of a plan
tensor_list tensors_of(const tensor_list& adapter, factor_half half);

/// What a half is of an adapter. @pre of the plan's size
std::vector<float> gather(const adapter_plan& plan, factor_half half,
                          std::span<const float> adapter);

/// Puts a half in its places in an adapter; the others stay. @pre both have
/// their sizes
void scatter(const adapter_plan& plan, factor_half half,
             std::span<const float> from, std::span<float> adapter);

/// Adds the shapes of these families. @param adapter of a plan
void add_halves(const tensor_list& adapter,
                std::map<std::string, tensor_list>& shapes);

/// First values of one of these families, of the adapter that a block `adapter`
/// would begin with: all lines begin equal. Nothing: it is none of them.
/// @param seed that of all first values
std::optional<std::vector<float>> initial_half(const adapter_plan& plan,
                                               std::string_view family,
                                               std::uint64_t seed);

/// The same of those that the recipe has frozen.
std::map<std::string, shared_values>
frozen_factors(const recipe& method, const std::optional<adapter_plan>& plan,
               std::uint64_t seed);

} // namespace troupe::models
