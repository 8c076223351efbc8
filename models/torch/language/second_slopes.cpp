#include "models/torch/language/second_slopes.hpp"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cstdint>

#include "models/torch/language/row_loops.hpp"

namespace troupe::models {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

/// What a gate's slopes are bent by, and where that goes.
template <class T>
struct gate_bend {
  const T *along, *up, *gate, *of_up, *of_gate;
  T *to_along, *to_up, *to_gate;
};

/// @param chance the sigmoid of n gates
template <class T>
void bend_gates(const gate_bend<T>& x, const T* __restrict chance,
                std::int64_t first, std::int64_t n) {
  const T* __restrict along = x.along + first;
  const T* __restrict up = x.up + first;
  const T* __restrict gate = x.gate + first;
  const T* __restrict of_up = x.of_up + first;
  const T* __restrict of_gate = x.of_gate + first;
  T* __restrict to_along = x.to_along + first;
  T* __restrict to_up = x.to_up + first;
  T* __restrict to_gate = x.to_gate + first;
  for (std::int64_t i = 0; i < n; ++i) {
    const T s = chance[i], g = gate[i];
    const T slope = s * (1 + g * (1 - s));
    const T bend = s * (1 - s) * (2 + g * (1 - 2 * s));
    const T by_gate = of_gate[i] * along[i];
    to_along[i] = of_up[i] * g * s + of_gate[i] * up[i] * slope;
    to_up[i] = by_gate * slope;
    to_gate[i] = of_up[i] * along[i] * slope + by_gate * up[i] * bend;
  }
}

/// The slopes of `gated_by_silu`, along up and along gate.
struct gate_slopes : Function<gate_slopes> {
  static variable_list forward(AutogradContext* context,
                               const at::Tensor& along, const at::Tensor& up,
                               const at::Tensor& gate) {
    context->save_for_backward({along, up, gate});
    const auto a = in_a_row(along, along), u = in_a_row(up, up),
               g = in_a_row(gate, gate);
    auto to_up = at::empty_like(u), to_gate = at::empty_like(g);
    for_blocks(a.numel(), [&](std::int64_t first, std::int64_t n) {
      const auto some = [=](const at::Tensor& x) {
        return x.narrow(0, first, n);
      };
      auto of_up = some(to_up), of_gate = some(to_gate);
      at::silu_out(of_up, some(g));
      of_up.mul_(some(a));
      at::silu_backward_out(of_gate, some(a) * some(u), some(g));
    });
    return {to_up.view(up.sizes()), to_gate.view(gate.sizes())};
  }

  static variable_list backward(AutogradContext* context, variable_list bent) {
    const auto saved = context->get_saved_variables();
    if (is_bent_again())
      return bent_by_operators(saved, or_zeros(bent[0], saved[0]),
                               or_zeros(bent[1], saved[0]));
    const auto& sizes = saved[0].sizes();
    const auto a = in_a_row(saved[0], saved[0]),
               u = in_a_row(saved[1], saved[0]),
               g = in_a_row(saved[2], saved[0]),
               of_up = in_a_row(bent[0], saved[0]),
               of_gate = in_a_row(bent[1], saved[0]);
    const auto to_along = at::empty_like(a), to_up = at::empty_like(a),
               to_gate = at::empty_like(a);
    auto chances =
      at::empty({std::min(numbers_at_once, a.numel())}, a.options());
    AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "gate_slopes", [&] {
      const auto of = [](const at::Tensor& x) {
        return x.data_ptr<scalar_t>();
      };
      const gate_bend<scalar_t> x{of(a),     of(u),       of(g),
                                  of(of_up), of(of_gate), of(to_along),
                                  of(to_up), of(to_gate)};
      for_blocks(a.numel(), [&](std::int64_t first, std::int64_t n) {
        auto chance = chances.narrow(0, 0, n);
        at::sigmoid_out(chance, g.narrow(0, first, n));
        bend_gates(x, of(chance), first, n);
      });
    });
    return {to_along.view(sizes), to_up.view(sizes), to_gate.view(sizes)};
  }

  /// The formulas of `bend_gates`.
  static variable_list bent_by_operators(const variable_list& saved,
                                         const at::Tensor& of_up,
                                         const at::Tensor& of_gate) {
    const auto &along = saved[0], &up = saved[1], &gate = saved[2];
    const auto s = at::sigmoid(gate);
    const auto slope = s * (1 + gate * (1 - s));
    const auto bend = s * (1 - s) * (2 + gate * (1 - 2 * s));
    const auto by_gate = of_gate * along;
    return {of_up * gate * s + of_gate * up * slope, by_gate * slope,
            of_up * along * slope + by_gate * up * bend};
  }
};

struct gate_function : Function<gate_function> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& up,
                            const at::Tensor& gate) {
    context->save_for_backward({up, gate});
    return at::silu(gate).mul_(up);
  }

  static variable_list backward(AutogradContext* context, variable_list along) {
    const auto saved = context->get_saved_variables();
    return gate_slopes::apply(along[0], saved[0], saved[1]);
  }
};

/// One row: of what shares p are, and of what is along them.
template <class T>
void bend_shares(const T* __restrict along, const T* __restrict p,
                 const T* __restrict bent, std::int64_t n,
                 T* __restrict to_along, T* __restrict to_p) {
  T mean = 0, turn = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    mean += along[i] * p[i];
    turn += bent[i] * p[i];
  }
  for (std::int64_t i = 0; i < n; ++i) {
    to_along[i] = p[i] * (bent[i] - turn);
    to_p[i] = bent[i] * (along[i] - mean) - along[i] * turn;
  }
}

/// The slope of `softmax_of_last`, whose values are p.
struct softmax_slopes : Function<softmax_slopes> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& along,
                            const at::Tensor& p) {
    context->save_for_backward({along, p});
    return at::_softmax_backward_data(along, p, -1, p.scalar_type());
  }

  static variable_list backward(AutogradContext* context, variable_list bent) {
    const auto saved = context->get_saved_variables();
    if (is_bent_again())
      return bent_by_operators(saved[0], saved[1], bent[0]);
    const auto along = saved[0].contiguous(), p = saved[1].contiguous(),
               by = bent[0].contiguous();
    const auto to_along = at::empty_like(p), to_p = at::empty_like(p);
    const auto n = p.size(-1);
    AT_DISPATCH_FLOATING_TYPES(p.scalar_type(), "softmax_slopes", [&] {
      const auto of = [](const at::Tensor& x) {
        return x.data_ptr<scalar_t>();
      };
      for (std::int64_t at = 0; at < p.numel(); at += n)
        bend_shares(of(along) + at, of(p) + at, of(by) + at, n,
                    of(to_along) + at, of(to_p) + at);
    });
    return {to_along, to_p};
  }

  /// The formulas of `bend_shares`.
  static variable_list bent_by_operators(const at::Tensor& along,
                                         const at::Tensor& p,
                                         const at::Tensor& bent) {
    const auto mean = (along * p).sum(-1, true);
    const auto turn = (bent * p).sum(-1, true);
    return {p * (bent - turn), bent * (along - mean) - along * turn};
  }
};

struct softmax_function : Function<softmax_function> {
  static at::Tensor forward(AutogradContext* context,
                            const at::Tensor& scores) {
    const auto p = at::softmax(scores, -1);
    context->save_for_backward({p});
    return p;
  }

  static variable_list backward(AutogradContext* context, variable_list along) {
    return {softmax_slopes::apply(along[0], context->get_saved_variables()[0])};
  }
};

} // namespace

at::Tensor gated_by_silu(const at::Tensor& up, const at::Tensor& gate) {
  return gate_function::apply(up, gate);
}

at::Tensor softmax_of_last(const at::Tensor& scores) {
  return softmax_function::apply(scores);
}

} // namespace troupe::models
