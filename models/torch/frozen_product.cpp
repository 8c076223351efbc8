#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "models/torch/frozen_parts.hpp"

namespace troupe::models {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

using shared_base = std::shared_ptr<const frozen_weights>;

/// So many values are dequantised at once: they stay in a cache, and a product
/// with them is one of matrices.
constexpr std::size_t values_at_once = 1 << 16;

/// Calls f(first row, some rows as a matrix) until all rows had their turn.
template <class Function>
void for_some_rows(const frozen_weights& base, std::size_t place, Function f) {
  const auto rows = base.rows(place), columns = base.columns(place);
  const auto most =
    std::min(rows, std::max<std::size_t>(1, values_at_once / columns));
  const auto room = at::empty(
    {static_cast<std::int64_t>(most), static_cast<std::int64_t>(columns)},
    at::kFloat);
  for (std::size_t first = 0; first < rows; first += most) {
    const auto n = std::min(most, rows - first);
    base.read_rows(place, first,
                   std::span{room.data_ptr<float>(), n * columns});
    f(static_cast<std::int64_t>(first),
      room.narrow(0, 0, static_cast<std::int64_t>(n)));
  }
}

/// Has a base for as long as a graph does.
struct held_base : torch::CustomClassHolder {
  explicit held_base(shared_base x) : base(std::move(x)) {
    // nop
  }

  shared_base base;
};

/// Of rows of x: x W^T, or x W on the way back, which is the way there of the
/// way back.
struct frozen_function : torch::autograd::Function<frozen_function> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const shared_base& base, std::int64_t place,
                            bool is_back) {
    context->saved_data["base"] =
      c10::IValue::make_capsule(c10::make_intrusive<held_base>(base));
    context->saved_data["place"] = place;
    context->saved_data["is_back"] = is_back;
    const auto at_place = static_cast<std::size_t>(place);
    const auto width = static_cast<std::int64_t>(
      is_back ? base->columns(at_place) : base->rows(at_place));
    const auto result = at::zeros({x.size(0), width}, x.options());
    for_some_rows(
      *base, at_place, [&](std::int64_t first, const at::Tensor& some) {
        const auto weight = some.to(x.scalar_type());
        if (is_back)
          result.addmm_(x.narrow(1, first, weight.size(0)), weight);
        else
          result.narrow(1, first, weight.size(0)).copy_(x.mm(weight.t()));
      });
    return result;
  }

  static variable_list backward(AutogradContext* context,
                                variable_list gradients) {
    auto& data = context->saved_data;
    const auto held = data["base"].toCapsule();
    const auto base = static_cast<const held_base&>(*held).base;
    const auto place = data["place"].toInt();
    const bool is_back = data["is_back"].toBool();
    return {
      frozen_function::apply(gradients[0], base, place, !is_back), {}, {}, {}};
  }
};

} // namespace

at::Tensor frozen_product(std::shared_ptr<const frozen_weights> base,
                          std::size_t place, const at::Tensor& x) {
  auto sizes = x.sizes().vec();
  sizes.back() = static_cast<std::int64_t>(base->rows(place));
  return frozen_function::apply(x.reshape({-1, x.size(-1)}), base,
                                static_cast<std::int64_t>(place), false)
    .reshape(sizes);
}

at::Tensor frozen_product_back(std::shared_ptr<const frozen_weights> base,
                               std::size_t place, const at::Tensor& y) {
  return frozen_function::apply(y, base, static_cast<std::int64_t>(place),
                                true);
}

} // namespace troupe::models
