#include "kernels/gate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/assert.hpp"

namespace troupe::kernels {

namespace {

/// Shares of one row's logits, formed so that no exponential overflows.
class softmax {
public:
  /// Over all.
  explicit softmax(std::span<const float> logits)
    : largest_(*std::ranges::max_element(logits)) {
    for (const auto x : logits)
      total_ += power(x);
  }

  /// Over some.
  softmax(std::span<const float> logits, std::span<const std::uint32_t> among)
    : largest_(logits[among.front()]) {
    for (const auto k : among)
      largest_ = std::max<double>(largest_, logits[k]);
    for (const auto k : among)
      total_ += power(logits[k]);
  }

  double share(float logit) const {
    return power(logit) / total_;
  }

  /// -log of the share, also where that is too small for a double.
  double surprise(float logit) const {
    return std::log(total_) - (static_cast<double>(logit) - largest_);
  }

private:
  double power(float logit) const {
    return std::exp(static_cast<double>(logit) - largest_);
  }

  double largest_;
  double total_ = 0;
};

softmax softmax_among(std::span<const float> logits,
                      std::span<const std::uint32_t> chosen,
                      bool renormalised) {
  TROUPE_ASSERT(!chosen.empty() && chosen.back() < logits.size());
  return renormalised ? softmax{logits, chosen} : softmax{logits};
}

} // namespace

void softmax_of(std::span<const float> logits, std::span<double> to) {
  TROUPE_ASSERT(!logits.empty() && to.size() == logits.size());
  const softmax all{logits};
  for (std::size_t k = 0; k < logits.size(); ++k)
    to[k] = all.share(logits[k]);
}

std::vector<std::uint32_t> top_of(std::span<const double> scores,
                                  std::size_t count) {
  TROUPE_ASSERT(count <= scores.size());
  std::vector<std::uint32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::partial_sort(
    order, order.begin() + static_cast<std::ptrdiff_t>(count),
    [&](std::uint32_t a, std::uint32_t b) {
      return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
    });
  order.resize(count);
  return order;
}

void gate_weights(std::span<const float> logits,
                  std::span<const std::uint32_t> chosen, bool renormalised,
                  std::span<double> weights) {
  TROUPE_ASSERT(weights.size() == chosen.size());
  const auto all = softmax_among(logits, chosen, renormalised);
  for (std::size_t i = 0; i < chosen.size(); ++i)
    weights[i] = all.share(logits[chosen[i]]);
}

// With w_i the weight of the chosen i and d_i the slope along it, the slope
// along logit k is w_k (d_k - sum of w_i d_i), where d is 0 for who is not
// chosen but has a part in the sum over all.
void gate_slopes(std::span<const float> logits,
                 std::span<const std::uint32_t> chosen, bool renormalised,
                 std::span<const double> along_weights,
                 std::span<float> along_logits) {
  TROUPE_ASSERT(along_weights.size() == chosen.size()
                && along_logits.size() == logits.size());
  const auto all = softmax_among(logits, chosen, renormalised);
  double mean = 0;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    mean += all.share(logits[chosen[i]]) * along_weights[i];
  std::ranges::fill(along_logits, 0.f);
  if (!renormalised)
    for (std::size_t k = 0; k < logits.size(); ++k)
      along_logits[k] = static_cast<float>(-all.share(logits[k]) * mean);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto k = chosen[i];
    along_logits[k] =
      static_cast<float>(all.share(logits[k]) * (along_weights[i] - mean));
  }
}

double owner_slopes(std::span<const float> logits, std::uint32_t owner,
                    std::span<float> along_logits) {
  TROUPE_ASSERT(owner < logits.size() && along_logits.size() == logits.size());
  const softmax all{logits};
  for (std::size_t k = 0; k < logits.size(); ++k)
    along_logits[k] =
      static_cast<float>(all.share(logits[k]) - (k == owner ? 1.0 : 0.0));
  return all.surprise(logits[owner]);
}

void add_softmax(std::span<const float> logits, std::span<double> sum) {
  TROUPE_ASSERT(!sum.empty() && logits.size() % sum.size() == 0);
  for (; !logits.empty(); logits = logits.subspan(sum.size())) {
    const softmax all{logits.first(sum.size())};
    for (std::size_t k = 0; k < sum.size(); ++k)
      sum[k] += all.share(logits[k]);
  }
}

} // namespace troupe::kernels
