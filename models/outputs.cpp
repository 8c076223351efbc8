#include "models/outputs.hpp"

#include <algorithm>
#include <cmath>

#include "core/assert.hpp"

namespace troupe::models {

namespace {

using floats = std::span<const float>;

/// The softmax of one row, and what the exponentials were divided by.
struct softened {
  std::vector<double> chances;
  double log_sum = 0;
};

softened soften(floats logits) {
  const auto most = static_cast<double>(std::ranges::max(logits));
  softened x;
  double sum = 0;
  for (const auto y : logits)
    sum += x.chances.emplace_back(std::exp(static_cast<double>(y) - most));
  for (auto& y : x.chances)
    y /= sum;
  x.log_sum = std::log(sum) + most;
  return x;
}

bool is_right(floats logits, std::size_t label) {
  for (std::size_t j = 0; j < logits.size(); ++j)
    if (!(j < label ? logits[j] < logits[label] : logits[j] <= logits[label]))
      return false;
  return true;
}

} // namespace

judgement judge_logits(floats logits, std::span<const std::int64_t> labels,
                       std::size_t classes, std::span<float> slopes) {
  TROUPE_ASSERT(logits.size() == labels.size() * classes);
  judgement result;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto row = logits.subspan(i * classes, classes);
    const auto label = static_cast<std::size_t>(labels[i]);
    const auto x = soften(row);
    // Not the logarithm of a chance, which may have become zero.
    result.losses.push_back(x.log_sum - static_cast<double>(row[label]));
    result.correct += is_right(row, label);
    for (std::size_t j = 0; j < classes && !slopes.empty(); ++j)
      slopes[i * classes + j] =
        static_cast<float>(x.chances[j] - (j == label ? 1 : 0));
  }
  return result;
}

judgement judge_numbers(floats said, floats targets, std::size_t size,
                        double by, std::span<float> slopes) {
  TROUPE_ASSERT(said.size() == targets.size());
  judgement result;
  for (std::size_t i = 0; i < said.size(); i += size) {
    double loss = 0;
    for (std::size_t j = i; j < i + size; ++j) {
      const auto off =
        static_cast<double>(said[j]) - static_cast<double>(targets[j]);
      loss += off * off;
      if (!slopes.empty())
        slopes[j] = static_cast<float>(2 * off / by);
    }
    result.losses.push_back(loss / by);
  }
  return result;
}

void add_said(floats said, double share, std::span<float> sum) {
  TROUPE_ASSERT(said.size() == sum.size());
  for (std::size_t j = 0; j < said.size(); ++j)
    sum[j] += static_cast<float>(share * static_cast<double>(said[j]));
}

void divide(std::span<float> slopes, std::size_t by) {
  for (auto& x : slopes)
    x /= static_cast<float>(by);
}

std::vector<float> times(std::span<const float> slopes, double share) {
  std::vector<float> result;
  for (const auto x : slopes)
    result.push_back(x * static_cast<float>(share));
  return result;
}

void weigh(std::span<const double> parts, std::span<float> slopes) {
  const auto each = parts.empty() ? 0 : slopes.size() / parts.size();
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (auto& x : slopes.subspan(i * each, each))
      x *= static_cast<float>(parts[i]);
}

void add_chances(floats logits, std::size_t classes, double share,
                 std::span<float> sum) {
  TROUPE_ASSERT(logits.size() == sum.size());
  for (std::size_t i = 0; i < logits.size(); i += classes) {
    const auto x = soften(logits.subspan(i, classes));
    for (std::size_t j = 0; j < classes; ++j)
      sum[i + j] += static_cast<float>(share * x.chances[j]);
  }
}

void to_logits(std::span<float> chances) {
  // What is impossible stays a number.
  for (auto& x : chances)
    x = std::log(std::max(x, 1e-30f));
}

} // namespace troupe::models
