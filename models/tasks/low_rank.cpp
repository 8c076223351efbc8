#include "models/tasks/low_rank.hpp"

#include <array>
#include <cmath>
#include <numeric>

#include "core/random.hpp"

namespace troupe::models {

namespace {

constexpr std::size_t width = 10; // Of inputs and of targets.
constexpr std::array<std::size_t, 2> ranks{3, 4};
constexpr std::size_t train_rows = 700;
constexpr std::size_t test_rows_each = 300;
constexpr double spectrum = 8; // Of the aligned truths.
// Of client 1 and client 2, among shared and private directions.
constexpr std::array<std::array<bool, 5>, 2> directions{
  {{true, true, true, false, false}, {true, true, false, true, true}}};

std::vector<double> normals(random_stream& from, std::size_t count) {
  std::vector<double> xs(count);
  for (auto& x : xs)
    x = from.normal();
  return xs;
}

/// Vectors of length one, each orthogonal to those before it.
std::vector<std::vector<double>> orthonormal(random_stream& from,
                                             std::size_t count) {
  std::vector<std::vector<double>> result;
  while (result.size() < count) {
    auto x = normals(from, width);
    for (const auto& y : result) {
      const auto along = std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
      for (std::size_t i = 0; i < width; ++i)
        x[i] -= along * y[i];
    }
    const auto length =
      std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
    for (auto& v : x)
      v /= length;
    result.push_back(std::move(x));
  }
  return result;
}

using matrix = std::vector<double>; // Targets x inputs.

void add_outer(matrix& to, const std::vector<double>& u,
               const std::vector<double>& v, double scale) {
  for (std::size_t i = 0; i < width; ++i)
    for (std::size_t j = 0; j < width; ++j)
      to[i * width + j] += scale * u[i] * v[j];
}

std::vector<matrix> truths_of(const low_rank_options& how) {
  random_stream random{derive_seed(how.seed, "low_rank.truth")};
  std::vector<matrix> result(ranks.size(), matrix(width * width));
  if (how.task == low_rank_options::truth::gaussian) {
    for (std::size_t k = 0; k < ranks.size(); ++k)
      for (std::size_t i = 0; i < ranks[k]; ++i) {
        const auto u = normals(random, width);
        add_outer(result[k], u, normals(random, width), 1);
      }
    return result;
  }
  const auto us = orthonormal(random, directions[0].size());
  const auto vs = orthonormal(random, directions[0].size());
  for (std::size_t k = 0; k < ranks.size(); ++k)
    for (std::size_t i = 0; i < us.size(); ++i)
      if (directions[k][i])
        add_outer(result[k], us[i], vs[i], spectrum);
  return result;
}

void draw_rows(random_stream& random, const matrix& of, double noise,
               std::size_t count, regression_set& to) {
  for (std::size_t r = 0; r < count; ++r) {
    const auto x = normals(random, width);
    for (const auto v : x)
      to.inputs.push_back(static_cast<float>(v));
    for (std::size_t i = 0; i < width; ++i) {
      double y = noise * random.normal();
      for (std::size_t j = 0; j < width; ++j)
        y += of[i * width + j] * x[j];
      to.targets.push_back(static_cast<float>(y));
    }
  }
}

std::vector<std::uint32_t> rows_from(std::size_t first, std::size_t count) {
  std::vector<std::uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(first));
  return rows;
}

} // namespace

low_rank_problem make_low_rank_problem(const low_rank_options& how) {
  const auto truths = truths_of(how);
  regression_problem x{.inputs = width,
                       .targets = width,
                       .train = {},
                       .test = {},
                       .clients = {},
                       .has_bias = false,
                       .sums_targets = true,
                       .begins_at_zero = true};
  low_rank_problem result;
  for (std::size_t k = 0; k < truths.size(); ++k) {
    random_stream random{derive_seed(how.seed, "low_rank.rows", k)};
    const auto noise = 0.1 * static_cast<double>(k + 1);
    draw_rows(random, truths[k], noise, train_rows, x.train);
    draw_rows(random, truths[k], noise, test_rows_each, x.test);
    x.clients.train.push_back(rows_from(k * train_rows, train_rows));
    x.clients.test.push_back(rows_from(k * test_rows_each, test_rows_each));
    result.truths.emplace_back(truths[k].begin(), truths[k].end());
  }
  result.rows = std::make_shared<const regression_problem>(std::move(x));
  return result;
}

} // namespace troupe::models
