#pragma once

// What routers of the authors' Llama program do otherwise (A7 of CoMiGS's
// page), as Shazeer et al. 2017 have it: what a token's logits are is drawn
// while somebody descends, and the balance is of how much experts vary.

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>

#include "models/torch/language/parts.hpp"

namespace troupe::models {

/// ln 2 + 0.01: a softplus of what is frozen at zero, and its floor.
extern const double gate_deviation;

/// W'' tanh(W' x) of each row. inner [experts x width], outer [experts x
/// experts]
at::Tensor noisy_logits(const at::Tensor& x, const at::Tensor& inner,
                        const at::Tensor& outer);

/// Rows of a batch, in so many tokens each, and for how many experts.
struct noise_shape {
  std::int64_t rows = 0;
  std::int64_t tokens = 0;
  std::int64_t experts = 0;
};

/// Normal, [rows * tokens x experts], Double. Row i of the batch draws from
/// derive_seed(derive_seed(seed, "gate", layer), "row", i).
at::Tensor gate_noise(const pass_draws& by, std::size_t layer,
                      const noise_shape& x);

/// Variance of the sample over the squared mean. @pre x has two values or more
at::Tensor squared_variation(const at::Tensor& x);

/// How likely each expert is among the best so many of each row, if its own
/// noise alone were drawn anew. `noisy` is what was drawn. @pre most < experts
at::Tensor chance_of_place(const at::Tensor& clean, const at::Tensor& noisy,
                           std::int64_t most);

/// What experts count, and how often they are chosen, which between all of them
/// never varies: one behind the other, added up over rows.
at::Tensor variation_sums(const at::Tensor& weights, const at::Tensor& clean,
                          const at::Tensor& noisy, std::int64_t most);

/// The variation of each. @pre there were rows
at::Tensor variation_of(const at::Tensor& sums, std::int64_t experts);

/// Of these rows. @pre there are some
at::Tensor variation_balance(const at::Tensor& weights, const at::Tensor& clean,
                             const at::Tensor& noisy, std::int64_t most);

} // namespace troupe::models
