#pragma once

// Side terms on a device. One thread has one value: sums have the CPU's order,
// and nothing is added by two.

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/checks.hpp"
#include "kernels/cuda/device_loops.cuh"
#include "kernels/cuda/operation.cuh"

namespace troupe::kernels::cuda {

/// Side terms as a kernel sees them.
struct side_pointers {
  std::size_t inputs;
  std::size_t outputs;
  std::size_t rank;
  std::size_t terms;
  std::size_t rows;
  float scale;
  bool is_weighed;
  bool is_per_row;
  const std::uint32_t* term; ///< Of each rank.
  const float* u;
  const float* v;
  const float* weights;
  const float* x;
};

/// What a rank counts in a row.
inline __device__ float counts(const side_pointers& of, std::size_t row,
                               std::size_t q) {
  if (!of.is_weighed)
    return __fmul_rn(of.scale, 1.f);
  const auto at = of.term[q] + (of.is_per_row ? row * of.terms : 0);
  return __fmul_rn(of.scale, of.weights[at]);
}

/// In the lanes of the CPU's.
inline __device__ float dot(const float* a, const float* b, std::size_t n) {
  constexpr auto lanes = dot_lanes;
  float sum[lanes] = {};
  for (std::size_t j = 0; j < n; ++j)
    sum[j % lanes] = __fadd_rn(sum[j % lanes], __fmul_rn(a[j], b[j]));
  for (auto half = lanes / 2; half > 0; half /= 2)
    for (std::size_t lane = 0; lane < half; ++lane)
      sum[lane] = __fadd_rn(sum[lane], sum[lane + half]);
  return sum[0];
}

/// Products of each row of `x` with each row of `a`.
static __global__ void side_products(const float* a, std::size_t width,
                                     std::size_t rank, const float* x,
                                     float* out, std::size_t n) {
  const auto j = index_of_thread();
  if (j < n)
    out[j] = dot(a + j % rank * width, x + j / rank * width, width);
}

/// to[row][j] += what each rank's product counts there times its factor.
static __global__ void side_rows(side_pointers of, const float* products,
                                 const float* a, std::size_t width, float* to,
                                 std::size_t n) {
  const auto at = index_of_thread();
  if (at >= n)
    return;
  const auto row = at / width, j = at % width;
  auto sum = to[at];
  for (std::size_t q = 0; q < of.rank; ++q) {
    const auto by = __fmul_rn(counts(of, row, q), products[row * of.rank + q]);
    sum = __fadd_rn(sum, __fmul_rn(by, a[q * width + j]));
  }
  to[at] = sum;
}

/// to[q][j] += the same products times rows of `x`, row after row.
static __global__ void side_factors(side_pointers of, const float* products,
                                    const float* x, std::size_t width,
                                    float* to, std::size_t n) {
  const auto at = index_of_thread();
  if (at >= n)
    return;
  const auto q = at / width, j = at % width;
  auto sum = to[at];
  for (std::size_t row = 0; row < of.rows; ++row) {
    const auto by = __fmul_rn(counts(of, row, q), products[row * of.rank + q]);
    sum = __fadd_rn(sum, __fmul_rn(by, x[row * width + j]));
  }
  to[at] = sum;
}

/// One thread per weight.
static __global__ void side_weights(side_pointers of, const float* inner,
                                    const float* along, double* to,
                                    std::size_t n) {
  const auto at = index_of_thread();
  if (at >= n)
    return;
  const auto term = at % of.terms;
  const auto first = of.is_per_row ? at / of.terms : 0;
  const auto last = of.is_per_row ? first + 1 : of.rows;
  auto sum = to[at];
  for (auto row = first; row < last; ++row) {
    double slope = 0;
    for (std::size_t q = 0; q < of.rank; ++q)
      if (of.term[q] == term)
        slope = __dadd_rn(slope, __dmul_rn(double{inner[row * of.rank + q]},
                                           double{along[row * of.rank + q]}));
    sum = __dadd_rn(sum, __dmul_rn(double{of.scale}, slope));
  }
  to[at] = sum;
}

/// Uploads what both ways read.
inline side_pointers side_input(operation& on, const side_terms& of,
                                std::span<const float> rows) {
  std::vector<std::uint32_t> terms;
  for (std::size_t c = 0; c < of.ranks.size(); ++c)
    terms.insert(terms.end(), of.ranks[c], static_cast<std::uint32_t>(c));
  side_pointers to{};
  to.inputs = of.inputs;
  to.outputs = of.outputs;
  to.rank = terms.size();
  to.terms = of.ranks.size();
  to.rows = rows.size() / of.inputs;
  to.scale = of.scale;
  to.is_weighed = !of.weights.empty();
  to.is_per_row = of.weights.size() != of.ranks.size();
  to.term = on.input(std::span<const std::uint32_t>{terms});
  to.u = on.input(of.u);
  to.v = on.input(of.v);
  to.weights = on.input(of.weights);
  to.x = on.input(rows);
  return to;
}

inline result<void> side_forward(operation on, const side_terms& of,
                                 std::span<const float> rows,
                                 std::span<float> inner, std::span<float> y) {
  if (auto ok = check_side(of, rows.size(), inner.size(), y.size());
      !ok || inner.empty())
    return ok;
  const auto at = side_input(on, of, rows);
  auto* products = on.room<float>(inner.size());
  auto* found = on.input(std::span<const float>{y});
  on.launch(side_products, inner.size(), at.v, at.inputs, at.rank, at.x,
            products);
  on.launch(side_rows, y.size(), at, products, at.u, at.outputs, found);
  if (auto ok = on.finished("side_forward"); !ok)
    return ok;
  on.download(inner, static_cast<const float*>(products));
  on.download(y, static_cast<const float*>(found));
  return on.finished("side_forward");
}

inline result<void> side_backward(operation on, const side_terms& of,
                                  std::span<const float> rows,
                                  std::span<const float> inner,
                                  std::span<const float> along_y,
                                  side_slopes out) {
  if (auto ok = check_side(of, rows.size(), inner.size(), along_y.size()); !ok)
    return ok;
  if (auto ok = check_side_slopes(of, rows.size(), out); !ok || inner.empty())
    return ok;
  const auto at = side_input(on, of, rows);
  const auto* products = on.input(inner);
  const auto* slopes = on.input(along_y);
  auto* along = on.room<float>(inner.size());
  auto* u = on.input(std::span<const float>{out.u});
  auto* v = on.input(std::span<const float>{out.v});
  auto* of_rows = on.input(std::span<const float>{out.rows});
  auto* weights = on.input(std::span<const double>{out.weights});
  on.launch(side_products, inner.size(), at.u, at.outputs, at.rank, slopes,
            along);
  if (!out.u.empty())
    on.launch(side_factors, out.u.size(), at, products, slopes, at.outputs, u);
  if (!out.v.empty())
    on.launch(side_factors, out.v.size(), at, along, at.x, at.inputs, v);
  if (!out.rows.empty())
    on.launch(side_rows, out.rows.size(), at, along, at.v, at.inputs, of_rows);
  if (!out.weights.empty())
    on.launch(side_weights, out.weights.size(), at, products, along, weights);
  if (auto ok = on.finished("side_backward"); !ok)
    return ok;
  on.download(out.u, static_cast<const float*>(u));
  on.download(out.v, static_cast<const float*>(v));
  on.download(out.rows, static_cast<const float*>(of_rows));
  on.download(out.weights, static_cast<const double*>(weights));
  return on.finished("side_backward");
}

} // namespace troupe::kernels::cuda
