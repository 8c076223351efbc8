#include "models/torch/language/rotary.hpp"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "core/assert.hpp"
#include "models/torch/language/row_loops.hpp"

namespace troupe::models {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

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

/// Which pair turns so many times in the context of before, counted from the
/// fastest; between pairs, too.
double pair_of(double turns, const rope_spec& how) {
  const auto wave = how.original_context / (2 * std::numbers::pi * turns);
  return how.width * std::log(wave) / (2 * std::log(how.base));
}

/// How much of each pair's rate is the stretched one, as the reference's YaRN
/// has it (Peng et al., 2023): a ramp over pairs.
class pair_ramp {
public:
  explicit pair_ramp(const rope_spec& how)
    : first_(pair_of(how.high, how)),
      last_(pair_of(how.low, how)) {
    if (how.whole_pairs) {
      first_ = std::floor(first_);
      last_ = std::ceil(last_);
    }
    first_ = std::max(first_, 0.);
    last_ = std::min(last_, how.width - 1.);
    if (first_ == last_)
      last_ += 0.001;
  }

  double at(double pair) const {
    return std::clamp((pair - first_) / (last_ - first_), 0., 1.);
  }

private:
  double first_, last_;
};

at::Tensor of_angles(std::span<const double> rates, std::int64_t tokens,
                     double length, double (*of)(double)) {
  auto result =
    at::empty({tokens, static_cast<std::int64_t>(rates.size())}, at::kDouble);
  auto* to = result.data_ptr<double>();
  for (std::int64_t place = 0; place < tokens; ++place)
    for (const auto rate : rates)
      *to++ = length * of(static_cast<double>(place) * rate);
  return result;
}

/// Where heads lie: the last stride is 1.
struct head_strides {
  std::int64_t row, head, token;

  explicit head_strides(const at::Tensor& x)
    : row(x.stride(0)),
      head(x.stride(1)),
      token(x.stride(2)) {
    // nop
  }

  std::int64_t at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return i * row + j * head + k * token;
  }
};

template <class T>
struct head_angles {
  const T *cosines, *sines;
  std::int64_t half;
};

/// One head of one token. @param way 1, or -1: back
template <class T>
void turn_head(const head_angles<T>& by, T way, std::int64_t width,
               const T* from, T* to) {
  const auto half = by.half;
  for_strips<T>(half, [&](auto at) {
    const auto c = at(by.cosines), s = at(by.sines) * way;
    const auto first = at(from), second = at(from + half);
    at.put(to, first * c - second * s);
    at.put(to + half, second * c + first * s);
  });
  std::copy(from + 2 * half, from + width, to + 2 * half);
}

/// Turns by angles, or back; its derivative is the other way, and so on.
struct turning_function : torch::autograd::Function<turning_function> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& in,
                            const rotary::table& by, bool is_back) {
    context->save_for_backward({by.cosines, by.sines});
    context->saved_data["is_back"] = is_back;
    const auto x = in.stride(3) == 1 ? in : in.contiguous();
    const auto rows = x.size(0), heads = x.size(1), tokens = x.size(2),
               width = x.size(3);
    auto to = is_back ? at::empty_strided(
                x.sizes(), {heads * tokens * width, width, heads * width, 1},
                x.options())
                      : at::empty(x.sizes(), x.options());
    const head_strides read{x}, written{to};
    const auto half = by.cosines.size(1);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "turning_function", [&] {
      const auto* cosines = by.cosines.data_ptr<scalar_t>();
      const auto* sines = by.sines.data_ptr<scalar_t>();
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < heads; ++j)
          for (std::int64_t k = 0; k < tokens; ++k)
            turn_head<scalar_t>({cosines + k * half, sines + k * half, half},
                                is_back ? -1 : 1, width,
                                x.data_ptr<scalar_t>() + read.at(i, j, k),
                                to.data_ptr<scalar_t>() + written.at(i, j, k));
    });
    return to;
  }

  static variable_list backward(AutogradContext* context, variable_list along) {
    const auto saved = context->get_saved_variables();
    const bool is_back = context->saved_data["is_back"].toBool();
    return {turning_function::apply(
              along[0], rotary::table{.cosines = saved[0], .sines = saved[1]},
              !is_back),
            {},
            {}};
  }
};

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
    if (how.scaling == rope_spec::scaling_kind::yarn) {
      const auto part = pair_ramp{how}.at(i / 2);
      rate = (1 - part) * rate + part * rate / how.factor;
    }
    result.push_back(rate);
  }
  return result;
}

rotary::rotary(const rope_spec& how, std::int64_t head_width,
               std::int64_t tokens_max)
  : head_width_(head_width),
    tokens_max_(tokens_max) {
  TROUPE_ASSERT(how.width <= head_width);
  const auto rates = turning_rates(how);
  doubles_ = {.cosines = of_angles(rates, tokens_max, how.length,
                                   [](double x) { return std::cos(x); }),
              .sines = of_angles(rates, tokens_max, how.length,
                                 [](double x) { return std::sin(x); })};
  floats_ = {.cosines = doubles_.cosines.to(at::kFloat),
             .sines = doubles_.sines.to(at::kFloat)};
}

at::Tensor rotary::turn(const at::Tensor& x) const {
  TROUPE_ASSERT(x.dim() == 4 && x.size(2) <= tokens_max_
                && x.size(3) == head_width_);
  return turning_function::apply(
    x, x.scalar_type() == at::kDouble ? doubles_ : floats_, false);
}

} // namespace troupe::models
