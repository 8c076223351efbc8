#include "models/torch/language/norms.hpp"

#include <ATen/ATen.h>

#include "models/language/names.hpp"

namespace troupe::models {

at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight,
                      const at::Tensor& bias, double epsilon) {
  if (!bias.defined())
    return at::layer_norm(x, {x.size(-1)}, weight, {}, epsilon);
  return at::layer_norm(x, {x.size(-1)}, weight, bias, epsilon);
}

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight,
                    double epsilon) {
  const auto mean_square = (x * x).mean({-1}, true);
  return x * (mean_square + epsilon).rsqrt() * weight;
}

at::Tensor layer_norm_of(model_parts& of, std::size_t weight, std::size_t bias,
                         const at::Tensor& x, double epsilon) {
  return layer_norm(x, of.whole(weight),
                    bias == no_place ? at::Tensor{} : of.whole(bias), epsilon);
}

} // namespace troupe::models
