#pragma once

// For visits of methods that this tree does not have: a federation of three
// quadratics that runs them, and what the plain loops have in common that
// compute them again.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/quadratic_federation.hpp"

namespace troupe::test {

// What a method is written with.

using floats = std::vector<float>;
using reals = std::vector<double>;

inline void add(std::span<float> to, double by, std::span<const float> along) {
  for (std::size_t j = 0; j < to.size(); ++j)
    to[j] += static_cast<float>(by * along[j]);
}

inline double dot(std::span<const float> a, std::span<const float> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Line `i` of a matrix.
inline auto line(auto& of, std::size_t i, std::size_t width) {
  return std::span{of}.subspan(i * width, width);
}

// The federation.

constexpr std::size_t width = 4;

inline quadratic_setting small_setting(recipe method, models::local_method by,
                                       options said, std::size_t in_step) {
  method.roles = {{.procedure = {"next"}}};
  return {.method = method,
          .how = {.local_epochs = 2,
                  .batch_size = 4,
                  .shuffle = false,
                  .learning_rate = 0.1,
                  .method = std::move(said)},
          .problem = {.seed = 5,
                      .dimension = width,
                      .clients = 3,
                      .rows_per_client = 10,
                      .noise = 0.5},
          .in_step = in_step,
          .rows = {7, 10, 5},
          .methods = {{"next", by}}};
}

/// All clients' next visits, after their choice if they have one.
inline std::vector<models::visit_input> visits_of(quadratic_federation& x) {
  std::vector<models::visit_input> all;
  for (std::uint64_t k = 1; k <= x.problem().how.clients; ++k) {
    auto next = x.visit(k, 100 + k);
    const auto chosen = x.trainer().choose(next);
    EXPECT_TRUE(chosen) << chosen.error().context;
    next.chosen = chosen->chosen;
    std::erase_if(next.fetched, [&](const models::fetched_block& y) {
      return x.blocks().find(y.block)->where == scope::expert
             && std::ranges::find(next.chosen, y.block) == next.chosen.end();
    });
    all.push_back(std::move(next));
  }
  return all;
}

// What it comes to, in double and by plain loops.

inline std::vector<std::vector<std::uint32_t>>
batches_of(const std::vector<std::uint32_t>& rows, std::size_t count) {
  std::vector<std::vector<std::uint32_t>> all;
  std::size_t at = 0;
  while (all.size() < count) {
    const auto end = std::min(at + 4, rows.size());
    all.push_back({rows.begin() + static_cast<std::ptrdiff_t>(at),
                   rows.begin() + static_cast<std::ptrdiff_t>(end)});
    at = end == rows.size() ? 0 : end;
  }
  return all;
}

/// The slope of a row's loss at w.
inline reals slope_at(const models::quadratic_problem& x, std::uint32_t row,
                      const reals& w) {
  reals slope;
  for (std::size_t j = 0; j < width; ++j)
    slope.push_back(x.curvature[row / 10 * width + j]
                    * (w[j] - x.row_centre[row * width + j]));
  return slope;
}

inline double loss_at(const models::quadratic_problem& x, std::uint32_t row,
                      const reals& w) {
  double loss = 0;
  for (std::size_t j = 0; j < width; ++j) {
    const auto apart = w[j] - x.row_centre[row * width + j];
    loss += 0.5 * x.curvature[row / 10 * width + j] * apart * apart;
  }
  return loss;
}

inline double product(const reals& a, const reals& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

inline reals chances(const reals& logits) {
  reals all;
  for (const auto x : logits)
    all.push_back(std::exp(x));
  const auto sum = std::accumulate(all.begin(), all.end(), 0.0);
  for (auto& x : all)
    x /= sum;
  return all;
}

inline reals fetched(const quadratic_federation& x,
                     const models::visit_input& v, std::string_view name) {
  const auto& values = *v.find(x.blocks().find(name)->id)->values;
  return {values.begin(), values.end()};
}

inline void expect_offered(const quadratic_federation& x,
                           const models::visit_input& v,
                           const models::trained& found,
                           const std::string& name, const reals& now) {
  SCOPED_TRACE(name);
  const auto part = std::ranges::find(found.parts, x.blocks().find(name)->id,
                                      &offered_block::block);
  ASSERT_NE(part, found.parts.end());
  const auto base = fetched(x, v, name);
  for (std::size_t j = 0; j < now.size(); ++j)
    EXPECT_NEAR(base[j] + (*part->delta)[j], now[j], 1e-6);
}

inline void expect_kept(const models::trained& found, const std::string& name,
                        const reals& now) {
  SCOPED_TRACE(name);
  ASSERT_TRUE(found.next.blocks.contains(name));
  const auto kept = found.next.blocks.at(name).own_view();
  ASSERT_EQ(kept.size(), now.size());
  for (std::size_t j = 0; j < now.size(); ++j)
    EXPECT_NEAR(kept[j], now[j], 1e-6);
}

} // namespace troupe::test
