#pragma once

// One thread does what an iteration of the CPU's loops does. What must have the
// bits of a CPU is spelled with the intrinsics that have a rounding mode in
// their name and are never fused; the rest is compiled with --fmad=false.

#include "kernels/elementwise.hpp"

namespace troupe::kernels::cuda {

inline __device__ std::size_t index_of_thread() {
  return blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
}

template <class Reader>
__global__ void add_term(Reader values, double weight, double magic, double max,
                         double* sum, unsigned long long* outside,
                         std::size_t n) {
  const auto j = index_of_thread();
  if (j >= n)
    return;
  const auto product = __dmul_rn(weight, values[j]);
  if (fabs(product) <= max)
    sum[j] = __dadd_rn(sum[j], __dsub_rn(__dadd_rn(product, magic), magic));
  else
    atomicAdd(outside, 1ull);
}

static __global__ void finish_plain(float* values, const double* sum, scale by,
                                    std::size_t n) {
  const auto j = index_of_thread();
  if (j >= n)
    return;
  const auto step = __dmul_rn(by.rate, __ddiv_rn(sum[j], by.total));
  values[j] =
    __double2float_rn(__dadd_rn(static_cast<double>(values[j]), step));
}

template <server_rule Rule>
__global__ void finish_with(server_step how, float* values, const double* sum,
                            double total, double* first, double* second,
                            std::size_t n) {
  const auto j = index_of_thread();
  if (j >= n)
    return;
  moments kept{first[j], second ? second[j] : 0};
  const auto change = server_change<Rule>(how, __ddiv_rn(sum[j], total), kept);
  first[j] = kept.first;
  if (second)
    second[j] = kept.second;
  values[j] =
    __double2float_rn(__dadd_rn(static_cast<double>(values[j]), change));
}

/// One warp sums one block of the norm, in the order of `norm_block`.
static __global__ void sum_squares(const float* values, double* blocks,
                                   std::size_t n) {
  const auto first = blockIdx.x * norm_block;
  const auto last = first + norm_block < n ? first + norm_block : n;
  double sum = 0;
  for (auto j = first + threadIdx.x; j < last; j += norm_lanes) {
    const auto x = static_cast<double>(values[j]);
    sum = __dadd_rn(sum, __dmul_rn(x, x));
  }
  for (unsigned half = norm_lanes / 2; half > 0; half /= 2)
    sum = __dadd_rn(sum, __shfl_down_sync(~0u, sum, half));
  if (threadIdx.x == 0)
    blocks[blockIdx.x] = sum;
}

static __global__ void multiply(float* values, double factor, std::size_t n) {
  const auto j = index_of_thread();
  if (j < n)
    values[j] =
      __double2float_rn(__dmul_rn(static_cast<double>(values[j]), factor));
}

static __global__ void move(const float* from, float by, const float* along,
                            float* to, std::size_t n) {
  const auto j = index_of_thread();
  if (j < n)
    to[j] = __fadd_rn(from[j], __fmul_rn(by, along[j]));
}

static __global__ void mean_slope(const float* from, const float* to,
                                  double way, const float* less, float* out,
                                  std::size_t n) {
  const auto j = index_of_thread();
  if (j < n)
    out[j] = __double2float_rn(__dsub_rn(
      __ddiv_rn(__dsub_rn(static_cast<double>(from[j]),
                          static_cast<double>(to[j])),
                way),
      static_cast<double>(less[j])));
}

/// Device pointers of a step; null where it has no such buffer.
struct step_pointers {
  float* weights;
  float* gradient;
  float* first;
  float* second;
  const float* anchor;
  const float* correction;
};

static __global__ void descend(sgd_step how, step_pointers on, std::size_t n) {
  const auto j = index_of_thread();
  if (j >= n)
    return;
  const auto weight = on.weights[j];
  auto gradient = on.gradient[j];
  if (how.decay != 0)
    gradient = __fmaf_rn(how.decay, weight, gradient);
  if (how.proximal != 0)
    gradient =
      __fmaf_rn(how.proximal, __fsub_rn(weight, on.anchor[j]), gradient);
  if (on.correction)
    gradient = __fadd_rn(gradient, on.correction[j]);
  if (how.momentum != 0) {
    if (!how.first)
      gradient = __fadd_rn(__fmul_rn(how.momentum, on.first[j]), gradient);
    on.first[j] = gradient;
  }
  on.weights[j] = __fmaf_rn(-how.rate, gradient, weight);
}

static __global__ void descend_adamw(adamw_factors how, step_pointers on,
                                     std::size_t n) {
  const auto j = index_of_thread();
  if (j >= n)
    return;
  auto gradient = on.gradient[j];
  if (on.correction)
    gradient = __fadd_rn(gradient, on.correction[j]);
  on.weights[j] =
    adamw_weight(how, on.weights[j], gradient, on.first[j], on.second[j]);
}

// Layers of a gate, one thread per row and output; sums have the CPU's order.

inline __device__ float gate_output(const float* weights, float bias,
                                    const float* from, std::size_t inputs) {
  float sum = 0;
  for (std::size_t i = 0; i < inputs; ++i)
    sum = __fadd_rn(sum, __fmul_rn(weights[i], from[i]));
  return __fadd_rn(sum, bias);
}

static __global__ void gate_hidden(gate_shape of, const float* gate,
                                   const float* rows, float* hidden,
                                   std::size_t n) {
  const auto j = index_of_thread();
  if (j >= n)
    return;
  const auto row = j / of.hidden, h = j % of.hidden;
  const auto x =
    gate_output(gate + h * of.inputs, gate[of.hidden_bias_at() + h],
                rows + row * of.inputs, of.inputs);
  hidden[j] = x < 0 ? 0.f : x;
}

static __global__ void gate_logits(gate_shape of, const float* gate,
                                   const float* hidden, float* logits,
                                   std::size_t n) {
  const auto j = index_of_thread();
  if (j >= n)
    return;
  const auto row = j / of.experts, k = j % of.experts;
  logits[j] = gate_output(gate + of.output_at() + k * of.hidden,
                          gate[of.output_bias_at() + k],
                          hidden + row * of.hidden, of.hidden);
}

/// Slopes along the hidden values before ReLU, one thread per row and value.
static __global__ void gate_hidden_slopes(gate_shape of, const float* gate,
                                          const float* hidden,
                                          const float* along, float* slopes,
                                          std::size_t n) {
  const auto j = index_of_thread();
  if (j >= n)
    return;
  const auto row = j / of.hidden, h = j % of.hidden;
  float sum = 0;
  if (hidden[j] > 0)
    for (std::size_t k = 0; k < of.experts; ++k)
      if (const auto slope = along[row * of.experts + k]; slope != 0)
        sum = __fadd_rn(
          sum, __fmul_rn(slope, gate[of.output_at() + k * of.hidden + h]));
  slopes[j] = sum;
}

/// Adds, row after row, a slope times a value, or the slope where values are
/// null. Slopes of zero add nothing, as with the CPU.
inline __device__ float
with_products(float sum, const float* slopes, std::size_t slopes_each,
              const float* values, std::size_t values_each, std::size_t rows) {
  for (std::size_t r = 0; r < rows; ++r)
    if (const auto slope = slopes[r * slopes_each]; slope != 0)
      sum = __fadd_rn(sum, values ? __fmul_rn(slope, values[r * values_each])
                                  : slope);
  return sum;
}

struct gate_pointers {
  const float* inputs;
  const float* hidden;
  const float* along;
  const float* slopes;
  std::size_t rows;
};

/// One thread per value of the gate.
static __global__ void gate_gradient(gate_shape of, gate_pointers at,
                                     float* gradient, std::size_t n) {
  const auto j = index_of_thread();
  if (j >= n)
    return;
  const bool is_hidden = j < of.output_at();
  const auto weights_at = is_hidden ? 0 : of.output_at();
  const auto bias_at = is_hidden ? of.hidden_bias_at() : of.output_bias_at();
  const auto width = is_hidden ? of.inputs : of.hidden;
  const bool is_bias = j >= bias_at;
  const auto output = is_bias ? j - bias_at : (j - weights_at) / width;
  const auto* values = is_hidden ? at.inputs : at.hidden;
  gradient[j] = with_products(
    gradient[j], (is_hidden ? at.slopes : at.along) + output,
    is_hidden ? of.hidden : of.experts,
    is_bias ? nullptr : values + (j - weights_at) % width, width, at.rows);
}

} // namespace troupe::kernels::cuda
