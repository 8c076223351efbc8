#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <initializer_list>
#include <span>
#include <utility>

#include "models/torch/frozen_parts.hpp"

namespace troupe::models {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

using extents = std::vector<std::int64_t>;

/// Which term each rank is of.
at::Tensor terms_of(const extents& ranks) {
  extents terms;
  for (std::size_t c = 0; c < ranks.size(); ++c)
    terms.insert(terms.end(), static_cast<std::size_t>(ranks[c]),
                 static_cast<std::int64_t>(c));
  return at::tensor(terms, at::kLong);
}

/// What each rank counts with: [rank] or [n x rank].
at::Tensor of_ranks(const at::Tensor& weights, const extents& ranks) {
  return weights.index_select(-1, terms_of(ranks));
}

at::Tensor weighed_inner(const at::Tensor& x, const at::Tensor& v,
                         const at::Tensor& weights, const extents& ranks) {
  const auto inner = x.mm(v.t());
  return weights.defined() ? inner * of_ranks(weights, ranks) : inner;
}

at::Tensor by_operators(const at::Tensor& y, const at::Tensor& x,
                        const at::Tensor& u, const at::Tensor& v,
                        const at::Tensor& weights, const extents& ranks,
                        double scale) {
  return y + scale * weighed_inner(x, v, weights, ranks).mm(u);
}

/// What went into a product.
struct operands {
  at::Tensor x, u, v, weights;
  extents ranks;
  double scale = 1;
};

/// The slope along weights, of what goes between the two factors.
at::Tensor slope_of_weights(const operands& of, const at::Tensor& inner,
                            const at::Tensor& of_inner) {
  const auto of_terms =
    at::zeros({inner.size(0), static_cast<std::int64_t>(of.ranks.size())},
              inner.options())
      .index_add(1, terms_of(of.ranks), inner * of_inner)
    * of.scale;
  return of.weights.dim() == 1 ? of_terms.sum(0) : of_terms;
}

/// The way back by operators that can be differentiated in turn.
variable_list slopes_by_operators(const operands& of, const at::Tensor& along,
                                  bool with_weights) {
  const auto counts = of.scale * of_ranks(of.weights, of.ranks);
  const auto inner = of.x.mm(of.v.t());
  const auto of_inner = along.mm(of.u.t());
  const auto back = of_inner * counts;
  return {along, back.mm(of.v), (inner * counts).t().mm(along),
          back.t().mm(of.x),
          with_weights ? slope_of_weights(of, inner, of_inner) : at::Tensor{}};
}

std::span<const float> floats_of(const at::Tensor& x) {
  return {x.data_ptr<float>(), static_cast<std::size_t>(x.numel())};
}

template <class T>
std::span<T> room_of(const at::Tensor& x) {
  if (!x.defined())
    return {};
  return {x.data_ptr<T>(), static_cast<std::size_t>(x.numel())};
}

/// The same as a backend reads them, while it looks into them.
class seen_terms {
public:
  seen_terms(const at::Tensor& u, const at::Tensor& v,
             const at::Tensor& weights, const extents& ranks, double scale)
    : u_(u.contiguous()),
      v_(v.contiguous()),
      weights_(weights.contiguous()),
      ranks_(ranks.begin(), ranks.end()),
      scale_(static_cast<float>(scale)) {
    // nop
  }

  kernels::side_terms view() const {
    return {.inputs = static_cast<std::size_t>(v_.size(1)),
            .outputs = static_cast<std::size_t>(u_.size(1)),
            .ranks = ranks_,
            .u = floats_of(u_),
            .v = floats_of(v_),
            .scale = scale_,
            .weights = floats_of(weights_)};
  }

private:
  at::Tensor u_, v_, weights_;
  std::vector<std::size_t> ranks_;
  float scale_;
};

/// Torch's room ends an error by an exception.
void expect(const result<void>& done) {
  TORCH_CHECK(done.has_value(), done.error().context);
}

struct side_function : torch::autograd::Function<side_function> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& y,
                            const at::Tensor& x, const at::Tensor& u,
                            const at::Tensor& v, const at::Tensor& weights,
                            const extents& ranks, double scale,
                            kernels::backend* arithmetic, tensor_use y_is) {
    const auto result = y_is == tensor_use::alone && y.is_contiguous()
                          ? y.variable_data()
                          : y.clone(at::MemoryFormat::Contiguous);
    const auto inner = at::empty({x.size(0), u.size(0)}, x.options());
    const seen_terms terms{u, v, weights, ranks, scale};
    expect(arithmetic->side_forward(terms.view(), floats_of(x.contiguous()),
                                    room_of<float>(inner),
                                    room_of<float>(result)));
    context->save_for_backward({x, u, v, weights, inner});
    context->saved_data["ranks"] = c10::IValue(ranks);
    context->saved_data["scale"] = scale;
    context->saved_data["arithmetic"] =
      static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(arithmetic));
    return result;
  }

  static variable_list backward(AutogradContext* context,
                                variable_list gradients) {
    const auto saved = context->get_saved_variables();
    auto& data = context->saved_data;
    const operands of{saved[0],
                      saved[1],
                      saved[2],
                      saved[3],
                      data["ranks"].toIntVector(),
                      data["scale"].toDouble()};
    auto slopes =
      c10::GradMode::is_enabled()
        ? slopes_by_operators(of, gradients[0], context->needs_input_grad(4))
        : slopes_by_backend(*context, of, saved[4], gradients[0]);
    slopes.resize(9); // Nothing is along what is no tensor.
    return slopes;
  }

  static variable_list slopes_by_backend(AutogradContext& context,
                                         const operands& of,
                                         const at::Tensor& inner,
                                         const at::Tensor& along_y) {
    // In the order of the tensors that went in.
    const auto wanted = [&](std::size_t i, const at::Tensor& like,
                            at::ScalarType type) {
      return context.needs_input_grad(i) ? at::zeros(like.sizes(), type)
                                         : at::Tensor{};
    };
    const auto x = wanted(1, of.x, at::kFloat);
    const auto u = wanted(2, of.u, at::kFloat);
    const auto v = wanted(3, of.v, at::kFloat);
    auto weights = wanted(4, of.weights, at::kDouble);
    const auto along = along_y.contiguous();
    const auto rows = of.x.contiguous();
    const seen_terms terms{of.u, of.v, of.weights, of.ranks, of.scale};
    auto* arithmetic = reinterpret_cast<kernels::backend*>(
      static_cast<std::intptr_t>(context.saved_data["arithmetic"].toInt()));
    expect(arithmetic->side_backward(terms.view(), floats_of(rows),
                                     floats_of(inner), floats_of(along),
                                     {.u = room_of<float>(u),
                                      .v = room_of<float>(v),
                                      .rows = room_of<float>(x),
                                      .weights = room_of<double>(weights)}));
    if (weights.defined())
      weights = weights.to(at::kFloat);
    return {context.needs_input_grad(0) ? along : at::Tensor{}, x, u, v,
            weights};
  }
};

bool are_floats(std::initializer_list<const at::Tensor*> xs) {
  for (const auto* x : xs)
    if (x->defined() && x->scalar_type() != at::kFloat)
      return false;
  return true;
}

} // namespace

at::Tensor with_side_terms(const at::Tensor& y, const at::Tensor& x,
                           const at::Tensor& u, const at::Tensor& v,
                           const at::Tensor& weights,
                           std::vector<std::int64_t> ranks, double scale,
                           kernels::backend* arithmetic, tensor_use y_is) {
  if (ranks.empty())
    return y;
  if (arithmetic == nullptr || !are_floats({&y, &x, &u, &v, &weights}))
    return by_operators(y, x, u, v, weights, ranks, scale);
  // A graph has no place for what is not there.
  const auto counted =
    weights.defined()
      ? weights
      : at::ones({static_cast<std::int64_t>(ranks.size())}, at::kFloat);
  return side_function::apply(y, x, u, v, counted, ranks, scale, arithmetic,
                              y_is);
}

at::Tensor into_side_terms(const at::Tensor& x, const at::Tensor& v,
                           const at::Tensor& weights,
                           const std::vector<std::int64_t>& ranks,
                           double scale) {
  return scale * weighed_inner(x, v, weights, ranks);
}

} // namespace troupe::models
