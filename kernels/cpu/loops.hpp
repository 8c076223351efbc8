#pragma once

// The inner loops of the CPU, each compiled for several widths of vectors and
// chosen when the program starts. Lanes run over j, and nothing is contracted,
// so all widths give the same bits. Arrays of one call must not overlap, but
// for what `finish`, `move` and `mean_slope` write, which may be what they
// read.

#include <cstddef>

#include "kernels/elementwise.hpp"

namespace troupe::kernels::loops {

/// How many products are not finite or above `max`.
std::size_t outside(f32_reader values, double weight, double max,
                    std::size_t n);
std::size_t outside(f16_reader values, double weight, double max,
                    std::size_t n);
std::size_t outside(int8_reader values, double weight, double max,
                    std::size_t n);

/// Adds each snapped product that is inside to its sum, and returns how many
/// are not. With the weight negated it takes back what it added, exactly:
/// rounding to the grid is symmetric.
std::size_t add(f32_reader values, double weight, grid g, double* sum,
                std::size_t n);
std::size_t add(f16_reader values, double weight, grid g, double* sum,
                std::size_t n);
std::size_t add(int8_reader values, double weight, grid g, double* sum,
                std::size_t n);

void finish(const float* base, const double* sum, scale by, float* out,
            std::size_t n);

/// `second` is null where the rule keeps no such moment. @pre the rule is not
/// plain
void finish(const float* base, const double* sum, double total,
            const server_step& step, double* first, double* second, float* out,
            std::size_t n);

double sum_of_squares(const float* values, std::size_t n);

/// Of `scale_a * a[j] - scale_b * b[j]`, in the same order.
double squared_distance(const float* a, double scale_a, const float* b,
                        double scale_b, std::size_t n);

void multiply(float* values, double factor, std::size_t n);

/// gradient[j] += factor * weights[j], rounded once.
void add_decay(float* gradient, float factor, const float* weights,
               std::size_t n);

/// gradient[j] += factor * (weights[j] - anchor[j]); the difference is rounded.
void add_proximal(float* gradient, float factor, const float* weights,
                  const float* anchor, std::size_t n);

/// to[j] = from[j] + by * along[j]; both operations are rounded.
void move(const float* from, float by, const float* along, float* to,
          std::size_t n);

/// out[j] = (from[j] - to[j]) / way - less[j], in double.
void mean_slope(const float* from, const float* to, double way,
                const float* less, float* out, std::size_t n);

void add_correction(float* gradient, const float* correction, std::size_t n);

/// weights[j] -= rate * gradient[j], rounded once; the gradient becomes zero.
void descend(float* weights, float rate, float* gradient, std::size_t n);

/// The same along m = momentum * m + gradient, or m = gradient at the first
/// step.
void descend_with_momentum(float* weights, const sgd_step& how, float* gradient,
                           float* momentum, std::size_t n);

/// Row `i` of base + x; nothing else may lie where `out` does.
void expand_row(const float* base, const low_rank& x, std::size_t i,
                float* out);

/// Adds what row `i` of a gradient says about the factors of x.
void shrink_row(const float* gradient, const low_rank& x, std::size_t i,
                const low_rank_slopes& out);

inline constexpr std::size_t shrink_rows_max = 4;

/// The same for so many rows from `i` on.
void shrink_rows(const float* gradient, const low_rank& x, std::size_t i,
                 const low_rank_slopes& out);

void adamw(const adamw_factors& how, float* weights, float* gradient,
           float* first, float* second, std::size_t n);

/// out[q] = the product of row q of `a` with x: `count` rows of n values.
void products(const float* a, std::size_t count, std::size_t n, const float* x,
              float* out);

/// to[j] += factors[q] * a[q][j] for each row q of `a`, one after the other.
void add_rows(const float* a, const float* factors, std::size_t count,
              std::size_t n, float* to);

/// a[q][j] += factors[r][q] * x[r][j] for each row r, one after the other; `a`
/// has `count` rows, and both have n values in each.
void add_outer(const float* factors, const float* x, std::size_t rows,
               std::size_t count, std::size_t n, float* a);

/// So many rows go through a gate's layers together. They lie beside each
/// other: value i of row r at i * gate_tile + r.
inline constexpr std::size_t gate_tile = 8;

/// What a linear layer makes of a tile, row by row in the order of the inputs;
/// the bias comes last.
void gate_layer(const float* weights, const float* bias, std::size_t inputs,
                std::size_t outputs, const float* from, float* to);

/// Adds what the slopes along one row's logits make of the gradient. `slopes`
/// is room for those along its hidden values.
void gate_gradient(const gate_shape& of, const float* gate, const float* row,
                   const float* hidden, const float* along, float* slopes,
                   float* gradient);

} // namespace troupe::kernels::loops
