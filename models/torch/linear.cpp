#include "models/torch/linear.hpp"

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

namespace troupe::models {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct linear_function : torch::autograd::Function<linear_function> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const at::Tensor& weight, const at::Tensor& bias) {
    context->save_for_backward({x, weight, bias});
    return at::linear(x, weight, bias);
  }

  static variable_list backward(AutogradContext* context,
                                variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto& [x, weight, bias] = std::tie(saved[0], saved[1], saved[2]);
    const auto& of_result = gradients[0];
    // Gradients that are to be differentiated themselves must be tensors.
    if (c10::GradMode::is_enabled())
      return {of_result.mm(weight), of_result.t().mm(x), of_result.sum(0)};
    weight.mutable_grad().addmm_(of_result.t(), x);
    bias.mutable_grad().add_(of_result.sum(0));
    // Nothing is left to be added to weight and bias.
    return {context->needs_input_grad(0) ? of_result.mm(weight) : at::Tensor{},
            {},
            {}};
  }
};

} // namespace

at::Tensor linear_layer(const at::Tensor& x, const at::Tensor& weight,
                        const at::Tensor& bias) {
  return linear_function::apply(x, weight, bias);
}

} // namespace troupe::models
