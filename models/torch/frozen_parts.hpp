#pragma once

// A base that nobody trains, as a network computes with it: products with its
// tensors, and factors of low rank beside them.

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/backend.hpp"
#include "models/language/frozen_weights.hpp"
#include "models/torch/language/parts.hpp"
#include "models/torch/language/routed_blocks.hpp"

namespace troupe::models {

/// Whether somebody else reads a tensor, there or on the way back.
enum class tensor_use : bool { shared, alone };

/// A base that nobody trains, with factors beside its products. f32 tensors
/// look into the base's memory; others are dequantised row by row at each
/// product.
class frozen_parts final : public model_parts {
public:
  explicit frozen_parts(std::shared_ptr<const frozen_weights> base);

  /// Of one group and one tensor of the base: u is rank x outputs, v rank x
  /// inputs.
  struct attached_factors {
    at::Tensor u, v;
    double scale = 1;
    std::size_t group = 0;
    std::optional<std::uint32_t> expert = {}; ///< Nothing: everybody's.
  };

  /// Of one group and a whole tensor of the base, to which it is added.
  struct attached_weights {
    at::Tensor values;
    std::size_t group = 0;
    bool counts_one = false; ///< Whatever the weights are.
  };

  /// By the place of the tensor that they stand beside; these and no others,
  /// with weight one. `arithmetic` may be null, and lives as long as what is
  /// computed by it. @pre tensors that they stand beside are matrices
  void attach(std::map<std::size_t, std::vector<attached_factors>> beside,
              std::size_t groups, kernels::backend* arithmetic);

  /// Beside what was attached. @pre nobody asks for rows of that tensor
  void add(std::size_t place, attached_weights x);

  /// Until something is attached. Factors of experts count in these blocks
  /// alone, and those beside a block's products for their expert.
  void route(routed_blocks blocks) {
    blocks_ = std::move(blocks);
  }

  /// Null: nothing is routed.
  routed_blocks* blocks() noexcept {
    return blocks_ ? &*blocks_ : nullptr;
  }

  bool is_routed() const noexcept {
    return blocks_.has_value();
  }

  void leave_out(std::size_t group, bool out);

  /// [groups], Float, may require a gradient; undefined: ones.
  void weigh(at::Tensor weights);

  at::Tensor whole(std::size_t place) override;
  at::Tensor rows(std::size_t place, const at::Tensor& ids) override;
  at::Tensor product(std::size_t weight, std::size_t bias,
                     const at::Tensor& x) override;
  open_product open(std::size_t weight, std::size_t bias,
                    const at::Tensor& x) override;
  void begin(const pass_facts& x) override;
  at::Tensor routed(std::size_t layer, const at::Tensor& x) override;
  bool balances() const override;
  at::Tensor balance() override;
  std::vector<at::Tensor> take_loads() override;

private:
  /// All that counts beside one tensor, behind each other.
  struct gathered {
    at::Tensor u, v;
    at::Tensor weights; ///< One per term; undefined: ones.
    std::vector<std::int64_t> ranks;
    double scale = 1;
  };

  /// An expert's, or everybody's; all of them where nothing is routed. Nothing:
  /// nothing does.
  std::optional<gathered>
  gather(std::size_t place, std::optional<std::uint32_t> expert = {}) const;

  at::Tensor beside(std::size_t place, std::optional<std::uint32_t> expert,
                    const at::Tensor& y, const at::Tensor& x,
                    tensor_use y_is = tensor_use::shared) const;

  at::Tensor bare(std::size_t place) const;

  /// Whether it is read row by row, and is never there whole.
  bool is_read_by_rows(std::size_t place) const {
    return !views_[place].defined() && !added_.contains(place);
  }

  /// With the weights that are added to it.
  at::Tensor filled(std::size_t place) const;

  std::shared_ptr<const frozen_weights> base_;
  std::vector<at::Tensor> views_; ///< Undefined where a tensor is no f32.
  std::map<std::size_t, std::vector<attached_factors>> beside_;
  std::map<std::size_t, std::vector<attached_weights>> added_;
  std::optional<routed_blocks> blocks_;
  std::vector<bool> is_out_; ///< Of each group.
  at::Tensor weights_;
  bool is_kept_ = false; ///< The pass that goes forward.
  kernels::backend* arithmetic_ = nullptr;
};

/// x W^T of rows that are dequantised as they are used; its derivative is y W
/// by the same rows, and so on. @pre x [… x inputs]
at::Tensor frozen_product(std::shared_ptr<const frozen_weights> base,
                          std::size_t place, const at::Tensor& x);

/// y W, likewise.
at::Tensor frozen_product_back(std::shared_ptr<const frozen_weights> base,
                               std::size_t place, const at::Tensor& y);

/// y + scale * sum of w_c * (x V_c^T) U_c: weights undefined, [terms] or [n x
/// terms]; x [n x inputs], u [rank x outputs], v [rank x inputs]. One pass of
/// the backend; torch's differentiable operators where the gradient is
/// differentiated in turn, or where there is no backend. Where nobody reads y
/// any more the result may have its memory.
at::Tensor with_side_terms(const at::Tensor& y, const at::Tensor& x,
                           const at::Tensor& u, const at::Tensor& v,
                           const at::Tensor& weights,
                           std::vector<std::int64_t> ranks, double scale,
                           kernels::backend* arithmetic,
                           tensor_use y_is = tensor_use::shared);

/// What of these goes into their U, with its scale: [n x rank]. By torch's
/// operators.
at::Tensor into_side_terms(const at::Tensor& x, const at::Tensor& v,
                           const at::Tensor& weights,
                           const std::vector<std::int64_t>& ranks,
                           double scale);

} // namespace troupe::models
