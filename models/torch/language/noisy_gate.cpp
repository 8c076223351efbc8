#include "models/torch/language/noisy_gate.hpp"

#include <ATen/ATen.h>

#include <cmath>
#include <numbers>
#include <tuple>

#include "core/assert.hpp"
#include "core/random.hpp"

namespace troupe::models {

const double gate_deviation = std::numbers::ln2 + 0.01;

at::Tensor noisy_logits(const at::Tensor& x, const at::Tensor& inner,
                        const at::Tensor& outer) {
  return x.mm(inner.t()).tanh().mm(outer.t());
}

at::Tensor gate_noise(const pass_draws& by, std::size_t layer,
                      const noise_shape& x) {
  auto noise = at::empty({x.rows * x.tokens, x.experts}, at::kDouble);
  auto* to = noise.data_ptr<double>();
  const auto seed = derive_seed(by.seed, "gate", layer);
  for (std::int64_t row = 0; row < x.rows; ++row) {
    random_stream draws{
      derive_seed(seed, "row", by.first_row + static_cast<std::uint64_t>(row))};
    for (std::int64_t i = 0; i < x.tokens * x.experts; ++i)
      *to++ = gate_deviation * draws.normal();
  }
  return noise;
}

at::Tensor squared_variation(const at::Tensor& x) {
  TROUPE_ASSERT(x.numel() > 1);
  const auto mean = x.mean();
  const auto variance =
    (x - mean).square().sum() / static_cast<double>(x.numel() - 1);
  // Chances may all be as good as zero.
  return variance / (mean.square() + 1e-10);
}

at::Tensor chance_of_place(const at::Tensor& clean, const at::Tensor& noisy,
                           std::int64_t most) {
  TROUPE_ASSERT(most > 0 && most < noisy.size(1));
  // Of equals the first, as they are chosen.
  const auto order = std::get<1>(at::sort(noisy.detach(), true, 1, true));
  const auto value_of = [&](std::int64_t place) {
    return noisy.gather(1, order.narrow(1, place, 1));
  };
  const auto is_in = at::zeros(noisy.sizes(), at::kBool)
                       .scatter(1, order.narrow(1, 0, most), true);
  // What it has to be above: the last of the best so many others.
  const auto bar = at::where(is_in, value_of(most), value_of(most - 1));
  const auto away = (clean - bar) / (gate_deviation * std::numbers::sqrt2);
  return (at::erf(away) + 1) / 2;
}

at::Tensor variation_sums(const at::Tensor& weights, const at::Tensor& clean,
                          const at::Tensor& noisy, std::int64_t most) {
  const auto counts = weights.sum(0);
  if (most == noisy.size(1))
    return counts;
  return at::cat({counts, chance_of_place(clean, noisy, most).sum(0)});
}

at::Tensor variation_of(const at::Tensor& sums, std::int64_t experts) {
  const auto of_counts = squared_variation(sums.narrow(0, 0, experts));
  if (sums.size(0) == experts)
    return of_counts;
  return of_counts + squared_variation(sums.narrow(0, experts, experts));
}

at::Tensor variation_balance(const at::Tensor& weights, const at::Tensor& clean,
                             const at::Tensor& noisy, std::int64_t most) {
  return variation_of(variation_sums(weights, clean, noisy, most),
                      noisy.size(1));
}

} // namespace troupe::models
