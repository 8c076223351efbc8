#include "models/tasks/quadratic.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "core/assert.hpp"
#include "core/random.hpp"

namespace troupe::models {

namespace {

/// One row's quadratic: its client's curvature around its own centre.
struct bowl {
  const double* curvature;
  const double* centre;
};

bowl bowl_of(const quadratic_problem& x, split part, std::uint32_t row) {
  const auto n = x.how.dimension;
  if (part == split::test)
    return {x.curvature.data() + row * n, x.centre.data() + row * n};
  const auto client = row / x.how.rows_per_client;
  return {x.curvature.data() + client * n, x.row_centre.data() + row * n};
}

std::size_t rows_of(const quadratic_problem& x, split part) {
  return part == split::train ? x.rows() : x.how.clients;
}

/// Per coordinate the mean of the clients' centres under factors that
/// `factor_of` makes of curvatures.
template <class F>
std::vector<double> weighted_centre(const quadratic_problem& x,
                                    std::span<const double> weights,
                                    F factor_of) {
  TROUPE_ASSERT(weights.size() == x.how.clients);
  const auto n = x.how.dimension;
  std::vector<double> above(n);
  std::vector<double> below(n);
  for (std::size_t k = 0; k < x.how.clients; ++k) {
    const auto centre = x.mean_centre(k);
    for (std::size_t j = 0; j < n; ++j) {
      const auto factor = weights[k] * factor_of(x.curvature[k * n + j]);
      above[j] += factor * centre[j];
      below[j] += factor;
    }
  }
  for (std::size_t j = 0; j < n; ++j)
    above[j] /= below[j];
  return above;
}

tensor_list quadratic_tensors(std::size_t dimension) {
  const auto n = static_cast<std::int64_t>(dimension);
  if (n == 1)
    return {{"w", {1}}};
  return {{"first", {n / 2}}, {"last", {n - n / 2}}};
}

} // namespace

std::vector<double> quadratic_problem::mean_centre(std::size_t client) const {
  std::vector<double> mean(how.dimension);
  const auto rows = how.rows_per_client;
  for (std::size_t r = client * rows; r < (client + 1) * rows; ++r)
    for (std::size_t j = 0; j < mean.size(); ++j)
      mean[j] += row_centre[r * mean.size() + j] / static_cast<double>(rows);
  return mean;
}

std::shared_ptr<const quadratic_problem>
make_quadratic_problem(const quadratic_options& how) {
  TROUPE_ASSERT(how.dimension > 0 && how.clients > 0);
  TROUPE_ASSERT(how.rows_per_client > 0 && how.conditioning >= 1);
  quadratic_problem x{
    .how = how, .curvature = {}, .centre = {}, .row_centre = {}};
  random_stream curvatures{derive_seed(how.seed, "quadratic.curvature")};
  random_stream centres{derive_seed(how.seed, "quadratic.centre")};
  random_stream noise{derive_seed(how.seed, "quadratic.noise")};
  for (std::size_t i = 0; i < how.clients * how.dimension; ++i) {
    x.curvature.push_back(std::pow(how.conditioning, -curvatures.uniform()));
    x.centre.push_back(how.heterogeneity * centres.normal());
  }
  for (std::size_t r = 0; r < x.rows(); ++r)
    for (std::size_t j = 0; j < how.dimension; ++j)
      x.row_centre.push_back(
        x.centre[r / how.rows_per_client * how.dimension + j]
        + how.noise * noise.normal());
  return std::make_shared<const quadratic_problem>(std::move(x));
}

partition partition_of(const quadratic_problem& x) {
  partition result;
  for (std::size_t k = 0; k < x.how.clients; ++k) {
    std::vector<std::uint32_t> rows(x.how.rows_per_client);
    std::iota(rows.begin(), rows.end(),
              static_cast<std::uint32_t>(k * rows.size()));
    result.train.push_back(std::move(rows));
    result.test.push_back({static_cast<std::uint32_t>(k)});
  }
  return result;
}

std::vector<double> optimum(const quadratic_problem& x,
                            std::span<const double> weights) {
  return weighted_centre(x, weights, [](double a) { return a; });
}

std::vector<double> fixed_point_of_averaging(const quadratic_problem& x,
                                             std::span<const double> weights,
                                             const local_descent& how) {
  return weighted_centre(x, weights, [&](double a) {
    return 1 - std::pow(1 - how.rate * a, static_cast<double>(how.steps));
  });
}

quadratic::quadratic(std::shared_ptr<const quadratic_problem> problem)
  : problem_(std::move(problem)),
    parameter_list_(quadratic_tensors(problem_->how.dimension)),
    parameters_(problem_->how.dimension),
    gradient_(problem_->how.dimension),
    sum_(problem_->how.dimension) {
  // nop
}

const tensor_list& quadratic::parameter_list() const noexcept {
  return parameter_list_;
}

const tensor_list& quadratic::buffer_list() const noexcept {
  return buffer_list_;
}

std::span<float> quadratic::parameters() noexcept {
  return parameters_;
}

std::span<float> quadratic::gradient() noexcept {
  return gradient_;
}

std::span<float> quadratic::buffers() noexcept {
  return {};
}

result<double> quadratic::backward(std::span<const std::uint32_t> rows,
                                   std::uint64_t) {
  TROUPE_ASSERT(!rows.empty());
  std::fill(sum_.begin(), sum_.end(), 0.0);
  double loss = 0;
  for (const auto row : rows) {
    if (row >= problem_->rows())
      return fail(errc::invalid_argument, "quadratic: training row "
                                            + std::to_string(row) + " of "
                                            + std::to_string(problem_->rows()));
    const auto [curvature, centre] = bowl_of(*problem_, split::train, row);
    for (std::size_t j = 0; j < sum_.size(); ++j) {
      const auto distance = static_cast<double>(parameters_[j]) - centre[j];
      const auto slope = curvature[j] * distance;
      sum_[j] += slope;
      loss += 0.5 * slope * distance;
    }
  }
  const auto n = static_cast<double>(rows.size());
  for (std::size_t j = 0; j < sum_.size(); ++j)
    gradient_[j] += static_cast<float>(sum_[j] / n);
  return loss / n;
}

result<void> quadratic::curve(std::span<const std::uint32_t> rows,
                              std::uint64_t, std::span<const float> direction) {
  TROUPE_ASSERT(!rows.empty() && direction.size() == parameters_.size());
  std::fill(sum_.begin(), sum_.end(), 0.0);
  for (const auto row : rows) {
    if (row >= problem_->rows())
      return fail(errc::invalid_argument, "quadratic: training row "
                                            + std::to_string(row) + " of "
                                            + std::to_string(problem_->rows()));
    const auto* curvature = bowl_of(*problem_, split::train, row).curvature;
    for (std::size_t j = 0; j < sum_.size(); ++j)
      sum_[j] += curvature[j] * static_cast<double>(direction[j]);
  }
  const auto n = static_cast<double>(rows.size());
  for (std::size_t j = 0; j < sum_.size(); ++j)
    gradient_[j] += static_cast<float>(sum_[j] / n);
  return {};
}

result<scores> quadratic::evaluate(split part,
                                   std::span<const std::uint32_t> rows) {
  const auto size = rows_of(*problem_, part);
  scores result;
  for (const auto row : rows) {
    if (row >= size)
      return fail(errc::invalid_argument, "quadratic: row "
                                            + std::to_string(row) + " of "
                                            + std::to_string(size));
    const auto [curvature, centre] = bowl_of(*problem_, part, row);
    for (std::size_t j = 0; j < parameters_.size(); ++j) {
      const auto distance = static_cast<double>(parameters_[j]) - centre[j];
      result.loss += 0.5 * curvature[j] * distance * distance;
    }
    ++result.count;
  }
  return result;
}

result<void> quadratic::say(split, std::span<const std::uint32_t> rows,
                            std::span<float> out) {
  auto to = out.begin();
  for (std::size_t i = 0; i < rows.size(); ++i)
    to = std::ranges::copy(parameters_, to).out;
  return {};
}

result<utterance> quadratic::speak(std::span<const std::uint32_t> rows,
                                   std::uint64_t) {
  utterance x{
    .values = std::vector<float>(rows.size() * size()),
    .pull_back = [this](std::span<const float> slopes) -> result<void> {
      for (std::size_t i = 0; i < slopes.size(); ++i)
        gradient_[i % size()] += slopes[i];
      return {};
    }};
  return say(split::train, rows, x.values).map([&] { return std::move(x); });
}

judgement quadratic::judge(split part, std::span<const std::uint32_t> rows,
                           std::span<const float> outputs,
                           std::span<float> slopes) const {
  judgement result;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto [curvature, centre] = bowl_of(*problem_, part, rows[i]);
    double loss = 0;
    for (std::size_t j = 0; j < size(); ++j) {
      const auto at = i * size() + j;
      const auto distance = static_cast<double>(outputs[at]) - centre[j];
      loss += 0.5 * curvature[j] * distance * distance;
      if (!slopes.empty())
        slopes[at] = static_cast<float>(curvature[j] * distance);
    }
    result.losses.push_back(loss);
  }
  return result;
}

result<void> quadratic::embed(split part, std::uint32_t row,
                              std::span<float> out) {
  TROUPE_ASSERT(out.size() == width());
  const auto size = rows_of(*problem_, part);
  if (row >= size)
    return fail(errc::invalid_argument, "quadratic: row " + std::to_string(row)
                                          + " of " + std::to_string(size));
  const auto* centre = bowl_of(*problem_, part, row).centre;
  for (std::size_t j = 0; j < out.size(); ++j)
    out[j] = static_cast<float>(centre[j]);
  return {};
}

std::vector<float> quadratic::initial_parameters(std::uint64_t seed) {
  random_stream random{derive_seed(seed, "quadratic.initial")};
  std::vector<float> result(parameters_.size());
  for (auto& x : result)
    x = static_cast<float>(random.normal());
  return result;
}

std::vector<float> quadratic::initial_buffers() {
  return {};
}

} // namespace troupe::models
