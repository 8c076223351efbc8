#include "kernels/cpu/cpu_side.hpp"

#include "kernels/checks.hpp"
#include "kernels/cpu/loops.hpp"

namespace troupe::kernels {

namespace {

/// Multiplies values of each rank with what its term counts in this row.
void weigh(const side_terms& of, std::size_t row, const float* values,
           float* to) {
  for (std::size_t c = 0; c < of.ranks.size(); ++c) {
    const auto by = of.scale * of.weight(row, c);
    for (auto left = of.ranks[c]; left > 0; --left)
      *to++ = by * *values++;
  }
}

/// Adds the slopes along the weights of one row.
void add_slopes(const side_terms& of, const float* inner, const float* along,
                double* to) {
  for (std::size_t c = 0; c < of.ranks.size(); ++c) {
    double slope = 0;
    for (auto left = of.ranks[c]; left > 0; --left)
      slope += static_cast<double>(*inner++) * static_cast<double>(*along++);
    to[c] += static_cast<double>(of.scale) * slope;
  }
}

} // namespace

result<void> cpu_side::forward(const side_terms& of,
                               std::span<const float> rows,
                               std::span<float> inner, std::span<float> y) {
  if (auto ok = check_side(of, rows.size(), inner.size(), y.size()); !ok)
    return ok;
  const auto rank = of.rank();
  counted_.resize(rank);
  for (std::size_t r = 0; r < rows.size() / of.inputs; ++r) {
    auto* products = inner.data() + r * rank;
    loops::products(of.v.data(), rank, of.inputs, rows.data() + r * of.inputs,
                    products);
    weigh(of, r, products, counted_.data());
    loops::add_rows(of.u.data(), counted_.data(), rank, of.outputs,
                    y.data() + r * of.outputs);
  }
  return {};
}

result<void> cpu_side::backward(const side_terms& of,
                                std::span<const float> rows,
                                std::span<const float> inner,
                                std::span<const float> along_y,
                                side_slopes out) {
  if (auto ok = check_side(of, rows.size(), inner.size(), along_y.size()); !ok)
    return ok;
  if (auto ok = check_side_slopes(of, rows.size(), out); !ok)
    return ok;
  const auto rank = of.rank(), n = rows.size() / of.inputs;
  counted_.resize(n * rank);
  along_.resize(n * rank);
  const bool is_per_row = of.weights.size() != of.ranks.size();
  for (std::size_t r = 0; r < n; ++r) {
    const auto* products = inner.data() + r * rank;
    auto* along = along_.data() + r * rank;
    loops::products(of.u.data(), rank, of.outputs,
                    along_y.data() + r * of.outputs, along);
    if (!out.weights.empty())
      add_slopes(of, products, along,
                 out.weights.data() + (is_per_row ? r * of.ranks.size() : 0));
    weigh(of, r, products, counted_.data() + r * rank);
    weigh(of, r, along, along);
  }
  if (!out.u.empty())
    loops::add_outer(counted_.data(), along_y.data(), n, rank, of.outputs,
                     out.u.data());
  if (!out.v.empty())
    loops::add_outer(along_.data(), rows.data(), n, rank, of.inputs,
                     out.v.data());
  if (!out.rows.empty())
    for (std::size_t r = 0; r < n; ++r)
      loops::add_rows(of.v.data(), along_.data() + r * rank, rank, of.inputs,
                      out.rows.data() + r * of.inputs);
  return {};
}

} // namespace troupe::kernels
