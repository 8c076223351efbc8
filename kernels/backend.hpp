#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/result.hpp"
#include "kernels/array.hpp"
#include "kernels/gate.hpp"
#include "kernels/grid.hpp"
#include "kernels/side_terms.hpp"

namespace troupe::kernels {

/// Values as they came over the wire, not yet floats.
struct f32_values {
  std::span<const float> values;
};
struct f16_values {
  std::span<const std::uint16_t> bits; ///< IEEE binary16.
};
struct int8_values {
  std::span<const std::int8_t> values;
  float scale = 1; ///< A value is `scale * values[j]`.
};

/// One term of a weighted sum: `weight * values`.
struct term {
  std::span<const float> values;
  double weight = 0;
};
struct f16_term {
  f16_values from;
  double weight = 0;
};
struct int8_term {
  int8_values from;
  double weight = 0;
};

/// What becomes of a sum. The quotient is formed first, so that N equal offers
/// make the same step as one, to the last bit.
struct scale {
  double rate = 1;  ///< The step of the server, the design's eta.
  double total = 1; ///< The sum of the weights before any discount.
};

/// The adaptive server optimisers of Reddi et al. (2021), as in the paper's
/// algorithm 2, without bias correction; `momentum` is FedAvgM.
enum class server_rule : std::uint8_t { plain, momentum, adam, yogi, adagrad };

struct server_step {
  server_rule rule = server_rule::plain;
  double rate = 1;
  double beta1 = 0.9;
  double beta2 = 0.99;
  double tau = 1e-3;

  /// How many buffers of the block's size the rule keeps between versions.
  constexpr int moment_count() const noexcept {
    return rule == server_rule::plain      ? 0
           : rule == server_rule::momentum ? 1
                                           : 2;
  }
};

/// One step of local SGD, in torch's convention:
///   g += decay * w + proximal * (w - anchor) + correction;
///   m = momentum * m + g (m = g at the first step); w -= rate * m.
/// Each product of a constant with a buffer is added with one rounding, but for
/// momentum's: without proximal term and correction that gives the bits of
/// torch::optim::SGD wherever torch's vectors have fused multiply-add.
/// The gradient is set to zero afterwards: the next backward pass adds to it.
struct sgd_step {
  float rate = 0.01f;
  float momentum = 0;
  float decay = 0;
  float proximal = 0;
  bool first = true; ///< The momentum buffer is written and not read.
};

struct adamw_step {
  float rate = 1e-3f;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
  float decay = 0.01f;
  std::uint64_t count = 1; ///< Of steps, this one included.
};

/// Buffers of one local step. Unused ones are empty.
struct step_buffers {
  array weights = {};
  array gradient = {};
  array first_moment = {};     ///< Momentum's, or AdamW's m.
  array second_moment = {};    ///< AdamW's v.
  const_array anchor = {};     ///< Of the proximal term.
  const_array correction = {}; ///< Added: SCAFFOLD's c - c_i.
};

/// One of several steps that are made together.
template <class Step>
struct step_call {
  Step how;
  step_buffers on;
};

using sgd_call = step_call<sgd_step>;
using adamw_call = step_call<adamw_step>;

/// A matrix of low rank: the sum of scale[k] u_k v_k^T. Row k of `u` and of `v`
/// is a factor's column: factors lie rank-major, so a prefix of ranks is one of
/// memory. The ranks of many adapters of one layer behind each other, each with
/// its adapter's share as scale, are one such matrix.
struct low_rank {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::span<const float> u = {};     ///< rank x rows
  std::span<const float> v = {};     ///< rank x columns
  std::span<const float> scale = {}; ///< One per rank.
};

/// What a gradient G of the whole matrix means for its factors, without their
/// scale: G v_k, G^T u_k, and u_k^T G v_k, which is the slope along scale[k].
struct low_rank_slopes {
  std::span<float> u = {};
  std::span<float> v = {};
  std::span<double> scale = {};
};

/// The arithmetic of the runtime on one device. One thread at a time uses an
/// instance. Calls are synchronous: when one returns, the output is ready, or,
/// after an error, unchanged. The implementations are in cpu/ and cuda/, the
/// specification in reference.hpp, and one conformance suite tests them all:
/// tests/unit/kernels/.
///
/// A merge takes a *set* of terms: `accumulate` gives the same bits for each
/// order of the terms and each split into calls.
class backend {
public:
  virtual ~backend() = default;

  virtual std::string_view name() const noexcept = 0;

  /// Computes sum[j] += g.snap(weight * values[j]) over all terms, in double.
  /// Returns `malformed_values` if a product is not finite or above its limit.
  /// A value of f16 is widened exactly; one of int8 is float(scale) * value in
  /// double, not rounded before the weight is applied.
  /// @pre each term has as many values as `sum`; `sum` began as zeros and gets
  ///      at most `g.terms_max` terms over all calls.
  [[nodiscard]] virtual result<void>
  accumulate(std::span<const term> terms, grid g, std::span<double> sum) = 0;
  [[nodiscard]] virtual result<void> accumulate(std::span<const f16_term> terms,
                                                grid g,
                                                std::span<double> sum) = 0;
  [[nodiscard]] virtual result<void>
  accumulate(std::span<const int8_term> terms, grid g,
             std::span<double> sum) = 0;

  /// Computes out[j] = float(base[j] + rate * (sum[j] / total)).
  /// @pre the three have one size, and `by.total` is positive.
  [[nodiscard]] virtual result<void> finish(std::span<const float> base,
                                            std::span<const double> sum,
                                            scale by, std::span<float> out) = 0;

  /// The same with a server optimiser: the pseudo-gradient is sum[j] / total,
  /// all is double and rounds once. `moments` are `step.moment_count()` buffers
  /// of the block's size behind each other, read and written: m, then v -
  /// tau^2. So zeros are a start, the paper's v = tau^2. With `plain` it is
  /// `finish`.
  [[nodiscard]] virtual result<void>
  finish(std::span<const float> base, std::span<const double> sum, double total,
         const server_step& step, std::span<double> moments,
         std::span<float> out) = 0;

  /// The Euclidean norm, summed in double in a fixed order. Returns
  /// `malformed_values` if a value is not finite.
  [[nodiscard]] virtual result<double> norm(const_array values) = 0;

  /// Scales `values` so that their norm is at most `limit`, and leaves them
  /// alone if it is. Returns the norm before.
  [[nodiscard]] virtual result<double> clip(std::span<float> values,
                                            double limit) = 0;

  // A local step changes the weights and its moments, and sets the gradient to
  // zero. Several are as many, of which none reads what another writes: what
  // one comes to does not depend on the others.

  [[nodiscard]] virtual result<void> step(std::span<const sgd_call> all) = 0;
  [[nodiscard]] virtual result<void> step(std::span<const adamw_call> all) = 0;

  template <class Step>
  [[nodiscard]] result<void> step(const Step& how, step_buffers on) {
    const step_call<Step> one{how, on};
    return step(std::span{&one, 1});
  }

  // What a visit does to values beside its steps. What is written may be what
  // is read.

  [[nodiscard]] virtual result<void> copy(const_array from, array to) = 0;

  /// Computes to = from + by * along; the product is rounded, then the sum.
  [[nodiscard]] virtual result<void> move(const_array from, float by,
                                          const_array along, array to) = 0;

  /// Computes out = (from - to) / way - less in double, rounded once: the mean
  /// slope between two points, beside a known one.
  [[nodiscard]] virtual result<void> mean_slope(const_array from,
                                                const_array to, double way,
                                                const_array less,
                                                array out) = 0;

  /// Computes out = base + x, in one pass over the matrix, row-major. `out` may
  /// be `base`.
  /// @pre base and out have rows x columns values
  [[nodiscard]] virtual result<void> expand(std::span<const float> base,
                                            const low_rank& x,
                                            std::span<float> out) = 0;

  /// The way back, in one pass over the gradient.
  [[nodiscard]] virtual result<void> shrink(std::span<const float> gradient,
                                            const low_rank& x,
                                            low_rank_slopes out) = 0;

  // A gate over rows of as many values as it has inputs, row-major. Logits that
  // are not finite are `malformed_values`.

  /// A row's results do not depend on the other rows, to the bit.
  [[nodiscard]] virtual result<void> gate_forward(const gate_shape& of,
                                                  const_array gate,
                                                  std::span<const float> rows,
                                                  gate_pass out) = 0;

  /// Adds to `gradient` what slopes along the logits of these rows make of it:
  /// a sum, row after row.
  [[nodiscard]] virtual result<void>
  gate_backward(const gate_shape& of, const_array gate,
                std::span<const float> rows, std::span<const float> hidden,
                std::span<const float> along_logits, array gradient) = 0;

  /// sum[i] += the softmax of each row at i, row after row, in double. Two
  /// calls with parts of the rows come to the bits of one.
  [[nodiscard]] virtual result<void> gate_scores(const gate_shape& of,
                                                 const_array gate,
                                                 std::span<const float> rows,
                                                 std::span<double> sum) = 0;

  // Products of low rank beside those of a layer, over rows of as many values
  // as the terms have inputs, row-major.

  /// y += the terms, and inner[row x rank] = V x, which the way back needs. A
  /// row's results do not depend on the others, to the bit.
  [[nodiscard]] virtual result<void> side_forward(const side_terms& of,
                                                  std::span<const float> rows,
                                                  std::span<float> inner,
                                                  std::span<float> y) = 0;

  /// Adds what slopes along y of these rows make of factors, rows and weights:
  /// sums in the order of the rows.
  [[nodiscard]] virtual result<void>
  side_backward(const side_terms& of, std::span<const float> rows,
                std::span<const float> inner, std::span<const float> along_y,
                side_slopes out) = 0;
};

enum class device_kind : std::uint8_t { cpu, cuda };

struct device {
  device_kind kind = device_kind::cpu;
  int ordinal = 0;
};

/// Returns `unsupported` if this build or this machine lacks the device.
[[nodiscard]] result<std::unique_ptr<backend>> make_backend(device where);

// The same checks for all implementations, and for the gateway, which refuses
// an offer before it meets others.

[[nodiscard]] result<void> check_term(const term& x, grid g);

[[nodiscard]] result<void> check_terms(std::span<const term> terms, grid g,
                                       std::size_t size);

[[nodiscard]] result<void> check_finish(std::span<const float> base,
                                        std::span<const double> sum, scale by,
                                        std::size_t size);

} // namespace troupe::kernels
