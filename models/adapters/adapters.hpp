#pragma once

// Adapters of low rank for any model: small blocks that are added to the
// tensors of a model, laid out over its flat buffer. Nothing here knows torch:
// what is composed are the parameters themselves, so a module, a script and a
// model of ours are adapted by the same lines. docs/adapters.md shows how.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/key_places.hpp"
#include "core/result.hpp"
#include "kernels/backend.hpp"
#include "models/objective.hpp"

namespace troupe::models {

/// How the product of two factors becomes a kernel of c_out x c_in x k1 x k2:
/// which of its extents belong to the first factor.
enum class kernel_split : std::uint8_t {
  none,        ///< Convolutions have no adapter.
  in,          ///< c_out | c_in k1 k2: the kernel is in the inner factor.
  out,         ///< c_out k1 k2 | c_in. A linear layer's, reshaped.
  balanced,    ///< The kernel is on the side that has fewer channels.
  filter,      ///< As `balanced_2d`, with c_out times the rank.
  balanced_2d, ///< c_out k2 | c_in k1, or c_out k1 | c_in k2 if that is
               ///< smaller.
};

enum class factor_start : std::uint8_t {
  inner_random, ///< v is uniform within a bound, u is zero.
  outer_random, ///< The other way around.
  inner_normal, ///< v is standard normal, u is zero.
  both_normal,  ///< Both are: such an adapter changes the model at once.
};

struct adapter_options {
  /// An adapter of a layer has at most this share of the layer's weights, and
  /// rank 1 at least.
  double budget = 0.01;
  std::size_t rank = 0; ///< Above zero: takes the place of the budget.
  /// Of linear layers that have other ranks, by their names.
  std::map<std::string, std::size_t> other_ranks = {};
  /// What products count: this over their rank, or over its root; 0: one.
  double alpha = 0;
  bool alpha_over_root = false;
  bool linear = true;
  kernel_split convolution = kernel_split::balanced_2d;
  bool bias = true;  ///< Of adapted layers.
  bool norm = false; ///< Scales and shifts of normalisations.
  factor_start start = factor_start::inner_random;
  /// The bound of a uniform start, squared and times the factor's length: 6 as
  /// in FLoRAL's program (Kaiming's for rectifiers), 1 as in most of LoRA's.
  double start_bound = 6;
  /// FLoRAL's program counts a convolution's rank as if its kernel were 2.
  bool ranks_of_release = false;
  /// Names of the layers that are adapted (`goes_by` in
  /// models/adapters/layer_names.hpp); empty: all of them.
  std::vector<std::string> layers = {};
  key_places places = {}; ///< Of what was said, for refusals.
};

/// A tensor of the model, as a matrix to which a product is added.
struct adapted_matrix {
  std::size_t at = 0; ///< In the model's buffer.
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t rank = 0;
  std::size_t u_at = 0; ///< In the adapter's buffer, as is the next.
  std::size_t v_at = 0;
  double scale = 1; ///< What the product counts.
  /// The place in the tensor of each element of the matrix, row by row; empty:
  /// it lies as the matrix does.
  std::vector<std::uint32_t> order = {};
  bool is_kernel = false;
  std::size_t row_positions = 1; ///< Places of the kernel within the rows.
  std::size_t column_positions = 1;

  std::size_t size() const noexcept {
    return rows * columns;
  }

  bool operator==(const adapted_matrix&) const = default;
};

/// A tensor to which one of its own size is added.
struct adapted_vector {
  std::size_t at = 0;
  std::size_t size = 0;
  std::size_t in_adapter = 0;

  bool operator==(const adapted_vector&) const = default;
};

/// What an adapter of a model consists of.
struct adapter_plan {
  tensor_list tensors; ///< Its own, in the order of its buffer.
  std::vector<adapted_matrix> matrices;
  std::vector<adapted_vector> vectors;
  std::size_t model_size = 0;
  factor_start start = factor_start::inner_random;
  double start_bound = 6;

  std::size_t size() const noexcept {
    return size_of(tensors);
  }
};

/// Matrices are adapted as linear layers, tensors of four extents as
/// convolutions; biases are known by their names, and a vector that belongs to
/// no layer is one. Returns `invalid_config` if the model has nothing that
/// could be adapted, or nothing by a name that is given.
result<adapter_plan> plan_adapters(const tensor_list& model,
                                   const adapter_options& how);

/// Products of `x` count what those of another adapter count.
/// @pre of the same matrices
void count_as(const adapter_plan& other, adapter_plan& x);

/// First values, with which an adapter changes nothing unless the plan says so.
/// Those of two adapters must come from two seeds: equal ones stay equal for
/// ever.
std::vector<float> initial_adapter(const adapter_plan& plan,
                                   std::uint64_t seed);

/// Adapters over one model, mixed by shares: their *products* are mixed, so C
/// of rank r are one product of rank C r. Each counts its share of what the
/// plan says that it counts. One thread at a time uses it.
class adapter_mixture {
public:
  using floats = std::span<const float>;

  adapter_mixture(const adapter_plan& plan, kernels::backend& arithmetic)
    : plan_(plan),
      arithmetic_(arithmetic) {
    // nop
  }

  /// out = base + the sum of shares[c] adapters[c].
  [[nodiscard]] result<void> compose(kernels::const_array base,
                                     std::span<const floats> adapters,
                                     std::span<const double> shares,
                                     kernels::array out);

  /// From the gradient of what was composed: those of each adapter, with its
  /// share in them, and the slope along each share.
  struct slopes {
    std::vector<std::vector<float>> adapters;
    std::vector<double> shares;
  };
  [[nodiscard]] result<void> pull_back(kernels::const_array gradient,
                                       std::span<const floats> adapters,
                                       std::span<const double> shares,
                                       slopes& out);

private:
  kernels::low_rank gather(const adapted_matrix& x,
                           std::span<const floats> adapters,
                           std::span<const double> shares);

  const adapter_plan& plan_;
  kernels::backend& arithmetic_;
  std::vector<float> u_, v_, scale_, matrix_, composed_, u_slopes_, v_slopes_;
  std::vector<double> scale_slopes_;
};

/// FLoRAL's preconditioner, in place: a linear factor's gradient is multiplied
/// by the inverse of (other^T other + epsilon), so that a step of the product
/// does not depend on how it is factored; a kernel's factor is divided by the
/// Frobenius norm of the other's Gram matrices, one per place of the kernel,
/// plus epsilon. Vectors stay as they are.
void precondition(const adapter_plan& plan, std::span<const float> adapter,
                  double epsilon, std::span<float> gradient);

} // namespace troupe::models
