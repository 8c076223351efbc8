#include "models/adapters/centring.hpp"

#include <algorithm>

#include "models/adapters/spectrum.hpp"

namespace troupe::models {

namespace {

using floats = std::span<const float>;
using adapter_set = std::span<std::vector<float>>;

bool is_zero(floats xs) {
  return std::ranges::all_of(xs, [](float x) { return x == 0; });
}

/// Ranks in which both factors are zero would never learn again.
void start_anew(const adapter_plan& plan, const adapted_matrix& m, floats old,
                std::span<float> adapter) {
  const bool outer = plan.start == factor_start::outer_random;
  const auto length = outer ? m.rows : m.columns;
  const auto at = outer ? m.u_at : m.v_at;
  for (std::size_t k = 0; k < m.rank; ++k)
    if (is_zero(adapter.subspan(m.u_at + k * m.rows, m.rows)))
      std::ranges::copy(old.subspan(at + k * length, length),
                        adapter.subspan(at + k * length).begin());
}

void centre_products(const adapter_plan& plan, const adapted_matrix& m,
                     adapter_set adapters) {
  std::vector<float> u, v;
  for (const auto& x : adapters) {
    const auto append = [&](std::size_t at, std::size_t size,
                            std::vector<float>& to) {
      const auto part = floats{x}.subspan(at, size);
      to.insert(to.end(), part.begin(), part.end());
    };
    append(m.u_at, m.rank * m.rows, u);
    append(m.v_at, m.rank * m.columns, v);
  }
  const auto mean = 1 / static_cast<double>(adapters.size());
  for (std::size_t c = 0; c < adapters.size(); ++c) {
    std::vector<float> scale(adapters.size() * m.rank,
                             static_cast<float>(-mean));
    std::fill_n(scale.begin() + static_cast<std::ptrdiff_t>(c * m.rank), m.rank,
                static_cast<float>(1 - mean));
    const auto rest = best_of_rank({m.rows, m.columns, u, v, scale}, m.rank);
    const std::vector<float> old = adapters[c];
    std::ranges::copy(rest.u, adapters[c].begin()
                                + static_cast<std::ptrdiff_t>(m.u_at));
    std::ranges::copy(rest.v, adapters[c].begin()
                                + static_cast<std::ptrdiff_t>(m.v_at));
    start_anew(plan, m, old, adapters[c]);
  }
}

void centre_vectors(const adapted_vector& x, adapter_set adapters) {
  const auto count = static_cast<double>(adapters.size());
  for (std::size_t j = x.in_adapter; j < x.in_adapter + x.size; ++j) {
    double sum = 0;
    for (const auto& y : adapters)
      sum += static_cast<double>(y[j]);
    for (auto& y : adapters)
      y[j] = static_cast<float>(static_cast<double>(y[j]) - sum / count);
  }
}

} // namespace

result<void> centre(const adapter_plan& plan, kernels::backend& arithmetic,
                    kernels::array base, adapter_set adapters) {
  const std::vector<floats> views(adapters.begin(), adapters.end());
  const std::vector<double> even(adapters.size(),
                                 1 / static_cast<double>(adapters.size()));
  if (auto ok =
        adapter_mixture{plan, arithmetic}.compose(base, views, even, base);
      !ok)
    return ok;
  for (const auto& x : plan.matrices)
    centre_products(plan, x, adapters);
  for (const auto& x : plan.vectors)
    centre_vectors(x, adapters);
  return {};
}

} // namespace troupe::models
