#pragma once

// What is done with the factors of adapters beside composing them: methods
// whose adapters have different ranks, or whose adapters should begin apart.

#include <cstddef>
#include <span>
#include <vector>

#include "core/result.hpp"
#include "models/adapters/adapters.hpp"

namespace troupe::models {

/// An adapter and what it is an adapter of.
struct planned_adapter {
  const adapter_plan& plan;
  std::span<const float> values;
};

/// What the composed model changes by, to first order, where an adapter moves
/// along `direction`: V_u v^T + u V_v^T of each matrix.
/// @pre out has the model's size
[[nodiscard]] result<void> push_forward(const planned_adapter& x,
                                        std::span<const float> direction,
                                        kernels::backend& arithmetic,
                                        kernels::array out);

/// Sets to zero what an adapter has beyond this rank.
void truncate(const adapter_plan& plan, std::size_t rank,
              std::span<float> adapter);

/// How many ranks each matrix of a plan has, or has left.
using rank_list = std::vector<std::size_t>;

/// The same where each matrix has a rank of its own. @pre there is one for each
void truncate(const adapter_plan& plan, const rank_list& ranks,
              std::span<float> adapter);

/// Takes away from an adapter's factors what lies in the span of another's of
/// the same matrices: neither product says anything where the other does.
void make_orthogonal(const adapter_plan& plan, std::span<float> adapter,
                     const planned_adapter& to);

/// How large the products are beyond a rank: the sum over matrices of the
/// Frobenius norms of the two factors' tails, multiplied. Adds its gradient,
/// times `factor`, to `slopes` where that is not empty.
double tail_norm(const planned_adapter& x, std::size_t rank, double factor = 0,
                 std::span<float> slopes = {});

/// What that is the sum of, each matrix beyond its own rank. @pre there is one
/// for each
std::vector<double> tail_norms(const planned_adapter& x, const rank_list& ranks,
                               double factor = 0, std::span<float> slopes = {});

/// The Frobenius norm of all that an adapter adds to a model, over all of its
/// matrices and vectors: from the factors' Gram matrices, and no model is made.
/// @pre values.size() == plan.size()
double norm_of_products(const adapter_plan& plan,
                        std::span<const float> values);

/// What an offer adds to an adapter, and its part in the merge.
struct merged_offer {
  std::span<const float> delta;
  double part = 0;
};

/// How far the mean of products is from the product of mean factors, where a
/// merge moves an adapter by these offers: the Frobenius norm, over all
/// matrices, of sum a_k du_k dv_k^T - (sum a_k du_k)(sum a_k dv_k)^T.
double product_gap(const adapter_plan& plan,
                   std::span<const merged_offer> offers);

/// The effective rank of the sum of adapters of the same matrices, of each of
/// these; empty where there are no adapters. All but the first may have none.
std::vector<std::size_t> effective_ranks(std::span<const planned_adapter> sum);

} // namespace troupe::models
