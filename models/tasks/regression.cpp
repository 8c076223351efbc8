#include "models/tasks/regression.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "core/assert.hpp"
#include "core/random.hpp"

namespace troupe::models {

namespace {

constexpr std::size_t inputs = 10;
constexpr std::size_t hidden = 10;
constexpr std::size_t linear_targets = 3;
constexpr double cluster_difference = 2; ///< The scale of u_c v_c^T.

std::vector<double> normals(random_stream& from, std::size_t count,
                            double deviation) {
  std::vector<double> xs(count);
  for (auto& x : xs)
    x = deviation * from.normal();
  return xs;
}

/// What all clients of a group have in common.
struct truth {
  std::vector<double> weights; ///< hidden x inputs.
  std::vector<double> bias;
  std::vector<double> out; ///< Phi; empty: the first values are the targets.

  std::vector<double> operator()(const std::vector<double>& x) const {
    std::vector<double> h(bias);
    for (std::size_t i = 0; i < hidden; ++i)
      for (std::size_t j = 0; j < inputs; ++j)
        h[i] += weights[i * inputs + j] * x[j];
    if (out.empty()) {
      h.resize(linear_targets);
      return h;
    }
    double y = 0;
    for (std::size_t i = 0; i < hidden; ++i)
      y += out[i] * std::max(h[i], 0.0);
    return {y};
  }
};

std::vector<truth> truths_of(const cluster_options& how) {
  random_stream random{derive_seed(how.seed, "clusters.truth")};
  const auto deviation = 1 / std::sqrt(static_cast<double>(inputs));
  truth common{.weights = normals(random, hidden * inputs, deviation),
               .bias = normals(random, hidden, deviation),
               .out = {}};
  if (how.task == cluster_options::truth::mlp)
    common.out = normals(random, hidden, deviation);
  std::vector<truth> result;
  for (std::size_t c = 0; c < how.groups; ++c) {
    auto own = common;
    const auto u = normals(random, hidden, deviation);
    const auto v = normals(random, inputs, 1); // It is of rank one.
    for (std::size_t i = 0; i < hidden; ++i)
      for (std::size_t j = 0; j < inputs; ++j)
        own.weights[i * inputs + j] += cluster_difference * u[i] * v[j];
    result.push_back(std::move(own));
  }
  return result;
}

void draw_rows(random_stream& random, const truth& of, std::size_t count,
               regression_set& to) {
  for (std::size_t r = 0; r < count; ++r) {
    const auto x = normals(random, inputs, 1);
    const auto y = of(x);
    std::ranges::transform(x, std::back_inserter(to.inputs),
                           [](double v) { return static_cast<float>(v); });
    std::ranges::transform(y, std::back_inserter(to.targets),
                           [](double v) { return static_cast<float>(v); });
  }
}

std::vector<std::uint32_t> next_rows(std::size_t first, std::size_t count) {
  std::vector<std::uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(first));
  return rows;
}

} // namespace

std::shared_ptr<const regression_problem>
make_cluster_problem(const cluster_options& how) {
  TROUPE_ASSERT(how.clients > 0 && how.groups > 0);
  TROUPE_ASSERT(how.train_rows > 0 && how.test_rows > 0);
  const auto truths = truths_of(how);
  regression_problem x;
  x.inputs = inputs;
  x.targets = how.task == cluster_options::truth::linear ? linear_targets : 1;
  for (std::size_t k = 0; k < how.clients; ++k) {
    random_stream random{derive_seed(how.seed, "clusters.rows", k)};
    const auto& own = truths[k % how.groups];
    draw_rows(random, own, how.train_rows, x.train);
    draw_rows(random, own, how.test_rows, x.test);
    x.clients.train.push_back(next_rows(k * how.train_rows, how.train_rows));
    x.clients.test.push_back(next_rows(k * how.test_rows, how.test_rows));
  }
  return std::make_shared<const regression_problem>(std::move(x));
}

regression::regression(std::shared_ptr<const regression_problem> problem,
                       const std::vector<std::size_t>& widths)
  : problem_(std::move(problem)) {
  auto from = problem_->inputs;
  std::size_t used = 0;
  const auto add = [&](const std::string& name, std::size_t to) {
    const auto m = static_cast<std::int64_t>(to);
    parameter_list_.push_back(
      {name + ".weight", {m, static_cast<std::int64_t>(from)}});
    layers_.push_back({from, to, used, used + from * to});
    used += from * to;
    if (problem_->has_bias) {
      parameter_list_.push_back({name + ".bias", {m}});
      used += to;
    }
    values_.emplace_back(from);
    from = to;
  };
  for (std::size_t i = 0; i < widths.size(); ++i)
    add("hidden" + std::to_string(i + 1), widths[i]);
  add("output", problem_->targets);
  values_.emplace_back(problem_->targets);
  parameters_.resize(used);
  gradient_.resize(used);
  errors_.resize(problem_->targets);
  tangents_ = values_;
}

const tensor_list& regression::parameter_list() const noexcept {
  return parameter_list_;
}

const tensor_list& regression::buffer_list() const noexcept {
  return buffer_list_;
}

std::span<float> regression::parameters() noexcept {
  return parameters_;
}

std::span<float> regression::gradient() noexcept {
  return gradient_;
}

std::span<float> regression::buffers() noexcept {
  return {};
}

result<void> regression::check(split part,
                               std::span<const std::uint32_t> rows) const {
  for (const auto row : rows)
    if (row >= problem_->rows(part))
      return fail(errc::invalid_argument,
                  "regression: row " + std::to_string(row) + " of "
                    + std::to_string(problem_->rows(part)));
  return {};
}

// Leaves the errors of the row's targets behind, and returns its loss.
double regression::run(split part, std::uint32_t row) {
  const auto& from = part == split::train ? problem_->train : problem_->test;
  const auto width = problem_->inputs;
  std::copy_n(from.inputs.begin() + static_cast<std::ptrdiff_t>(row * width),
              width, values_[0].begin());
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const auto& x = layers_[l];
    const bool last = l + 1 == layers_.size();
    for (std::size_t i = 0; i < x.to; ++i) {
      const auto* weights = parameters_.data() + x.weight_at + i * x.from;
      float sum = problem_->has_bias ? parameters_[x.bias_at + i] : 0;
      for (std::size_t j = 0; j < x.from; ++j)
        sum += weights[j] * values_[l][j];
      values_[l + 1][i] = last ? sum : std::max(sum, 0.f);
    }
  }
  double loss = 0;
  const auto n = problem_->targets;
  for (std::size_t i = 0; i < n; ++i) {
    errors_[i] = values_.back()[i] - from.targets[row * n + i];
    loss += static_cast<double>(errors_[i]) * static_cast<double>(errors_[i]);
  }
  return problem_->sums_targets ? loss : loss / static_cast<double>(n);
}

// @param slopes along the last layer's values
void regression::pull_row_back(std::span<const float> slopes) {
  std::vector<float> above(slopes.begin(), slopes.end());
  for (std::size_t l = layers_.size(); l-- > 0;) {
    const auto& x = layers_[l];
    std::vector<float> below(x.from);
    for (std::size_t i = 0; i < x.to; ++i) {
      const auto at = x.weight_at + i * x.from;
      if (problem_->has_bias)
        gradient_[x.bias_at + i] += above[i];
      for (std::size_t j = 0; j < x.from; ++j)
        gradient_[at + j] += above[i] * values_[l][j];
      for (std::size_t j = 0; l > 0 && j < x.from; ++j)
        below[j] += above[i] * parameters_[at + j];
    }
    for (std::size_t j = 0; l > 0 && j < x.from; ++j)
      if (values_[l][j] <= 0)
        below[j] = 0;
    above = std::move(below);
  }
}

// From the last row's values, what each of them changes by along `direction`.
void regression::push_forward(std::span<const float> direction) {
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const auto& x = layers_[l];
    const bool last = l + 1 == layers_.size();
    for (std::size_t i = 0; i < x.to; ++i) {
      const auto at = x.weight_at + i * x.from;
      float sum = problem_->has_bias ? direction[x.bias_at + i] : 0;
      for (std::size_t j = 0; j < x.from; ++j)
        sum += direction[at + j] * values_[l][j]
               + parameters_[at + j] * tangents_[l][j];
      tangents_[l + 1][i] = last || values_[l + 1][i] > 0 ? sum : 0;
    }
  }
}

// What `pull_back` would add changes by this along `direction`. ReLU has no
// second derivative where it has a first.
void regression::pull_back_curved(std::span<const float> direction,
                                  float factor) {
  auto above = errors_;
  auto turned = tangents_.back(); // What `above` changes by.
  for (std::size_t i = 0; i < above.size(); ++i) {
    above[i] *= factor;
    turned[i] *= factor;
  }
  for (std::size_t l = layers_.size(); l-- > 0;) {
    const auto& x = layers_[l];
    std::vector<float> below(x.from);
    std::vector<float> turned_below(x.from);
    for (std::size_t i = 0; i < x.to; ++i) {
      const auto at = x.weight_at + i * x.from;
      if (problem_->has_bias)
        gradient_[x.bias_at + i] += turned[i];
      for (std::size_t j = 0; j < x.from; ++j)
        gradient_[at + j] +=
          turned[i] * values_[l][j] + above[i] * tangents_[l][j];
      for (std::size_t j = 0; l > 0 && j < x.from; ++j) {
        below[j] += above[i] * parameters_[at + j];
        turned_below[j] +=
          turned[i] * parameters_[at + j] + above[i] * direction[at + j];
      }
    }
    for (std::size_t j = 0; l > 0 && j < x.from; ++j)
      if (values_[l][j] <= 0)
        below[j] = turned_below[j] = 0;
    above = std::move(below);
    turned = std::move(turned_below);
  }
}

float regression::factor_of(std::size_t rows) const {
  const auto parts = problem_->sums_targets ? 1 : problem_->targets;
  return static_cast<float>(
    2 / (static_cast<double>(rows) * static_cast<double>(parts)));
}

result<double> regression::backward(std::span<const std::uint32_t> rows,
                                    std::uint64_t) {
  TROUPE_ASSERT(!rows.empty());
  if (auto ok = check(split::train, rows); !ok)
    return tl::unexpected{ok.error()};
  const auto factor = factor_of(rows.size());
  double loss = 0;
  for (const auto row : rows) {
    loss += run(split::train, row);
    for (auto& x : errors_)
      x *= factor;
    pull_row_back(errors_);
  }
  return loss / static_cast<double>(rows.size());
}

result<void> regression::curve(std::span<const std::uint32_t> rows,
                               std::uint64_t,
                               std::span<const float> direction) {
  TROUPE_ASSERT(!rows.empty() && direction.size() == parameters_.size());
  if (auto ok = check(split::train, rows); !ok)
    return ok;
  for (const auto row : rows) {
    run(split::train, row);
    push_forward(direction);
    pull_back_curved(direction, factor_of(rows.size()));
  }
  return {};
}

result<scores> regression::evaluate(split part,
                                    std::span<const std::uint32_t> rows) {
  if (auto ok = check(part, rows); !ok)
    return tl::unexpected{ok.error()};
  scores sum;
  for (const auto row : rows) {
    sum.loss += run(part, row);
    ++sum.count;
  }
  return sum;
}

result<void> regression::say(split part, std::span<const std::uint32_t> rows,
                             std::span<float> out) {
  if (auto ok = check(part, rows); !ok)
    return ok;
  auto to = out.begin();
  for (const auto row : rows) {
    run(part, row);
    to = std::ranges::copy(values_.back(), to).out;
  }
  return {};
}

// Saying it again costs less than keeping what each layer said.
result<utterance> regression::speak(std::span<const std::uint32_t> rows,
                                    std::uint64_t) {
  utterance x{.values = std::vector<float>(rows.size() * size()),
              .pull_back = [this, again = std::vector<std::uint32_t>(
                                    rows.begin(), rows.end())](
                             std::span<const float> slopes) -> result<void> {
                for (std::size_t i = 0; i < again.size(); ++i) {
                  run(split::train, again[i]);
                  pull_row_back(slopes.subspan(i * size(), size()));
                }
                return {};
              }};
  return say(split::train, rows, x.values).map([&] { return std::move(x); });
}

judgement regression::judge(split part, std::span<const std::uint32_t> rows,
                            std::span<const float> outputs,
                            std::span<float> slopes) const {
  const auto& from = part == split::train ? problem_->train : problem_->test;
  std::vector<float> targets;
  targets.reserve(outputs.size());
  for (const auto row : rows) {
    const auto at =
      from.targets.begin() + static_cast<std::ptrdiff_t>(row * size());
    targets.insert(targets.end(), at, at + static_cast<std::ptrdiff_t>(size()));
  }
  return judge_numbers(outputs, targets, size(), 2 / factor_of(1), slopes);
}

std::vector<float> regression::initial_parameters(std::uint64_t seed) {
  if (problem_->begins_at_zero)
    return std::vector<float>(parameters_.size());
  std::vector<float> result;
  const std::size_t tensors = problem_->has_bias ? 2 : 1; // Of a layer.
  for (std::size_t i = 0; i < parameter_list_.size(); ++i) {
    const auto bound =
      1 / std::sqrt(static_cast<double>(layers_[i / tensors].from));
    random_stream draws{derive_seed(seed, "initial parameters", i)};
    for (std::size_t j = 0; j < parameter_list_[i].size(); ++j)
      result.push_back(static_cast<float>(bound * (2 * draws.uniform() - 1)));
  }
  return result;
}

std::vector<float> regression::initial_buffers() {
  return {};
}

} // namespace troupe::models
