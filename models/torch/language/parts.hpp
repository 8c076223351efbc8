#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace troupe::models {

class frozen_weights;

/// What is drawn for rows that somebody descends by. It is of a batch's seed
/// and of a row's number in it: how a batch is cut shows nowhere.
struct pass_draws {
  std::uint64_t seed = 0;
  std::uint64_t first_row = 0; ///< Of the batch.
};

/// What a model's parts know of the rows that go forward.
struct pass_facts {
  at::Tensor there = {}; ///< As in token_batch.
  /// Rows are looked at, and nobody descends by them.
  bool is_scored = false;
  /// Their graph is looked at when other parameters are live.
  bool is_kept = false;
  /// Of rows that nobody descends by either, what loads add up to.
  bool is_counted = false;
  /// What they add up to in the batch's other passes, layer after layer.
  std::vector<at::Tensor> loads_beside = {};
  std::optional<pass_draws> draws = {}; ///< Nothing: nothing is drawn.
};

/// A product that nobody has made yet: rows W^T + bias + inner U. What is not
/// defined is not there, but for a W that the base alone has.
struct open_product {
  at::Tensor rows;        ///< [n x inputs]
  at::Tensor weight = {}; ///< [outputs x inputs]
  at::Tensor bias = {};   ///< [outputs]
  at::Tensor inner = {};  ///< [n x rank]
  at::Tensor u = {};      ///< [rank x outputs]
  std::shared_ptr<const frozen_weights> base = {};
  std::size_t place = 0; ///< Of W there.
};

/// The tensors of a model by their place in tensors_of(spec), and products with
/// them. Networks compute through this alone, so they do not know whether a
/// base is trained, frozen, quantised or adapted.
class model_parts {
public:
  virtual ~model_parts() = default;

  /// f32, its shape.
  virtual at::Tensor whole(std::size_t place) = 0;

  /// [ids… x columns]; ids are Long.
  virtual at::Tensor rows(std::size_t place, const at::Tensor& ids) = 0;

  /// x W^T + b, x [… x inputs]; bias may be no_place.
  virtual at::Tensor product(std::size_t weight, std::size_t bias,
                             const at::Tensor& x) = 0;

  /// The same of [n x inputs], for who makes it some rows at a time.
  virtual open_product open(std::size_t weight, std::size_t bias,
                            const at::Tensor& x) = 0;

  /// Other rows go forward from here on.
  virtual void begin(const pass_facts& /*x*/) {
    // nop
  }

  /// What stands in the place of a feed-forward block; a tensor that is not
  /// defined: nothing does.
  virtual at::Tensor routed(std::size_t /*layer*/, const at::Tensor& /*x*/) {
    return {};
  }

  /// Whether there is a balance that has a slope.
  virtual bool balances() const {
    return false;
  }

  /// λ LB of the pass that went forward and of what is beside it, to be added
  /// to a loss; taken once. Undefined: there is none, or one that is constant.
  virtual at::Tensor balance() {
    return {};
  }

  /// Of the pass that was counted last, layer after layer; taken once. None:
  /// nothing was there.
  virtual std::vector<at::Tensor> take_loads() {
    return {};
  }
};

/// Tensors that are trained, or tests'. @pre of tensors_of(spec)
std::unique_ptr<model_parts> parts_of(std::vector<at::Tensor> tensors);

} // namespace troupe::models
