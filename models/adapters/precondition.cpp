#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/assert.hpp"
#include "models/adapters/adapters.hpp"

namespace troupe::models {

namespace {

void divide_all(std::span<float> xs, double by) {
  for (auto& x : xs)
    x = static_cast<float>(static_cast<double>(x) / by);
}

/// In place: solves (A + epsilon) x = b for each column of b, rank-major, with
/// A the Gram matrix of `other`'s ranks.
void divide_by_gram(std::span<const float> other, std::size_t rank,
                    double epsilon, std::span<float> b) {
  if (rank == 1)
    return divide_all(b, std::inner_product(other.begin(), other.end(),
                                            other.begin(), epsilon, std::plus{},
                                            std::multiplies<double>{}));
  const auto m = other.size() / rank;
  const auto n = b.size() / rank;
  std::vector<double> gram(rank * rank);
  for (std::size_t k = 0; k < rank; ++k)
    for (std::size_t l = 0; l <= k; ++l) {
      double sum = k == l ? epsilon : 0;
      for (std::size_t j = 0; j < m; ++j)
        sum += static_cast<double>(other[k * m + j])
               * static_cast<double>(other[l * m + j]);
      gram[k * rank + l] = sum;
    }
  // Cholesky's L takes the place of the lower half.
  for (std::size_t k = 0; k < rank; ++k)
    for (std::size_t l = 0; l <= k; ++l) {
      double sum = gram[k * rank + l];
      for (std::size_t p = 0; p < l; ++p)
        sum -= gram[k * rank + p] * gram[l * rank + p];
      gram[k * rank + l] =
        k == l ? std::sqrt(std::max(sum, epsilon)) : sum / gram[l * rank + l];
    }
  std::vector<double> x(b.begin(), b.end());
  const auto eliminate = [&](std::size_t k, std::size_t l, double factor) {
    for (std::size_t j = 0; j < n; ++j)
      x[k * n + j] -= factor * x[l * n + j];
  };
  const auto divide = [&](std::size_t k) {
    for (std::size_t j = 0; j < n; ++j)
      x[k * n + j] /= gram[k * rank + k];
  };
  for (std::size_t k = 0; k < rank; ++k) {
    for (std::size_t l = 0; l < k; ++l)
      eliminate(k, l, gram[k * rank + l]);
    divide(k);
  }
  for (std::size_t k = rank; k-- > 0;) {
    for (std::size_t l = k + 1; l < rank; ++l)
      eliminate(k, l, gram[l * rank + k]);
    divide(k);
  }
  std::ranges::transform(x, b.begin(),
                         [](double v) { return static_cast<float>(v); });
}

/// The Frobenius norm of the Gram matrices of a kernel's factor, one for each
/// of its places.
double gram_norm(std::span<const float> factor, std::size_t rank,
                 std::size_t positions) {
  const auto m = factor.size() / rank;
  double squares = 0;
  for (std::size_t s = 0; s < positions; ++s)
    for (std::size_t k = 0; k < rank; ++k)
      for (std::size_t l = 0; l < rank; ++l) {
        double sum = 0;
        for (std::size_t j = s; j < m; j += positions)
          sum += static_cast<double>(factor[k * m + j])
                 * static_cast<double>(factor[l * m + j]);
        squares += sum * sum;
      }
  return std::sqrt(squares);
}

} // namespace

void precondition(const adapter_plan& plan, std::span<const float> adapter,
                  double epsilon, std::span<float> gradient) {
  TROUPE_ASSERT(adapter.size() == plan.size());
  TROUPE_ASSERT(gradient.size() == plan.size());
  for (const auto& m : plan.matrices) {
    const auto u = adapter.subspan(m.u_at, m.rank * m.rows);
    const auto v = adapter.subspan(m.v_at, m.rank * m.columns);
    const auto u_slopes = gradient.subspan(m.u_at, u.size());
    const auto v_slopes = gradient.subspan(m.v_at, v.size());
    if (m.is_kernel) {
      divide_all(u_slopes, gram_norm(v, m.rank, m.column_positions) + epsilon);
      divide_all(v_slopes, gram_norm(u, m.rank, m.row_positions) + epsilon);
    } else {
      divide_by_gram(v, m.rank, epsilon, u_slopes);
      divide_by_gram(u, m.rank, epsilon, v_slopes);
    }
  }
}

} // namespace troupe::models
