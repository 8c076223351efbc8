#include "models/torch/language/rotary.hpp"

#include <ATen/ATen.h>

#include <cmath>
#include <numbers>
#include <span>

#include "core/assert.hpp"

namespace troupe::models {

namespace {

/// As the authors of Llama 3.1 stretch it: waves that are long beside the
/// context of before are, short ones are not, and between them is a ramp.
double stretched(double rate, const rope_spec& how) {
  const auto context = static_cast<double>(how.original_context);
  const auto turns = context * rate / (2 * std::numbers::pi);
  if (turns > how.high)
    return rate;
  if (turns < how.low)
    return rate / how.factor;
  const auto kept = (turns - how.low) / (how.high - how.low);
  return (1 - kept) * rate / how.factor + kept * rate;
}

at::Tensor table(std::span<const double> rates, std::int64_t tokens,
                 double (*of)(double)) {
  auto result =
    at::empty({tokens, static_cast<std::int64_t>(rates.size())}, at::kDouble);
  auto* to = result.data_ptr<double>();
  for (std::int64_t place = 0; place < tokens; ++place)
    for (const auto rate : rates)
      *to++ = of(static_cast<double>(place) * rate);
  return result;
}

} // namespace

std::vector<double> turning_rates(const rope_spec& how) {
  TROUPE_ASSERT(how.width % 2 == 0);
  std::vector<double> result;
  for (std::uint32_t i = 0; i < how.width; i += 2) {
    auto rate = std::pow(how.base, -static_cast<double>(i) / how.width);
    if (how.scaling == rope_spec::scaling_kind::linear)
      rate /= how.factor;
    if (how.scaling == rope_spec::scaling_kind::llama3)
      rate = stretched(rate, how);
    result.push_back(rate);
  }
  return result;
}

rotary::rotary(const rope_spec& how, std::int64_t head_width,
               std::int64_t tokens_max)
  : half_(how.width / 2),
    rest_(head_width - 2 * half_) {
  TROUPE_ASSERT(rest_ >= 0);
  const auto rates = turning_rates(how);
  cosines_ = table(rates, tokens_max, [](double x) { return std::cos(x); });
  sines_ = table(rates, tokens_max, [](double x) { return std::sin(x); });
}

at::Tensor rotary::turn(const at::Tensor& x) const {
  const auto of_these = [&](const at::Tensor& whole) {
    return whole.narrow(0, 0, x.size(-2)).to(x.scalar_type());
  };
  const auto cosines = of_these(cosines_);
  const auto sines = of_these(sines_);
  const auto first = x.narrow(-1, 0, half_);
  const auto second = x.narrow(-1, half_, half_);
  std::vector<at::Tensor> turned{first * cosines - second * sines,
                                 second * cosines + first * sines};
  if (rest_ > 0)
    turned.push_back(x.narrow(-1, 2 * half_, rest_));
  return at::cat(turned, -1);
}

} // namespace troupe::models
