#include "models/torch/language/norms.hpp"

#include <ATen/ATen.h>

#include "models/language/names.hpp"
#include "models/torch/language/second_slopes.hpp"

namespace troupe::models {

namespace {

/// By what nobody trains, as beside factors: then slopes are written out.
bool is_by_frozen(const at::Tensor& x, const at::Tensor& weight) {
  return !weight.requires_grad() && weight.scalar_type() == x.scalar_type();
}

} // namespace

at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight,
                      const at::Tensor& bias, double epsilon) {
  const bool is_bias_trained = bias.defined() && bias.requires_grad();
  if (is_by_frozen(x, weight) && !is_bias_trained)
    return layer_norm_by_frozen(x, weight, bias, epsilon);
  if (!bias.defined())
    return at::layer_norm(x, {x.size(-1)}, weight, {}, epsilon);
  return at::layer_norm(x, {x.size(-1)}, weight, bias, epsilon);
}

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight,
                    double epsilon) {
  if (is_by_frozen(x, weight))
    return rms_norm_by_frozen(x, weight, epsilon);
  const auto mean_square = (x * x).mean({-1}, true);
  return x * (mean_square + epsilon).rsqrt() * weight;
}

at::Tensor layer_norm_of(model_parts& of, std::size_t weight, std::size_t bias,
                         const at::Tensor& x, double epsilon) {
  return layer_norm(x, of.whole(weight),
                    bias == no_place ? at::Tensor{} : of.whole(bias), epsilon);
}

} // namespace troupe::models
