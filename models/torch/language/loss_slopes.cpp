// The summed cross-entropy, of logits that are as long as a vocabulary: each
// pass over them counts. Of a row p, the softmax of its logits:
//
//   loss = log of the sum of exp(logits) - logit of the target,
//   slope = along * (p - 1 at the target)

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "models/torch/language/row_loops.hpp"
#include "models/torch/language/second_slopes.hpp"

namespace troupe::models {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

/// One row: of what its slope is along, p that this is times what it is bent
/// by. Returns the part of a row that is along what slopes are along.
template <class T>
double bend_loss(const T* p, const T* bent, std::int64_t n, std::int64_t target,
                 T along, T* to_logits) {
  const auto [mean] =
    sums_of<T, 1>(n, [&](auto at) { return std::array{at(p) * at(bent)}; });
  const auto turn = static_cast<T>(mean);
  for_strips<T>(
    n, [&](auto at) { at.put(to_logits, at(p) * (at(bent) - turn) * along); });
  return mean - double{bent[target]};
}

/// The slope of `summed_cross_entropy`.
struct loss_slopes : Function<loss_slopes> {
  /// @param p of these logits, without a graph
  static at::Tensor forward(AutogradContext* context, const at::Tensor& along,
                            const at::Tensor& logits, const at::Tensor& p,
                            const at::Tensor& targets) {
    context->save_for_backward({along, logits, p, targets});
    const auto at = targets.unsqueeze(1);
    return (p * along).scatter_(1, at, (p.gather(1, at) - 1) * along);
  }

  static variable_list backward(AutogradContext* context, variable_list bent) {
    const auto saved = context->get_saved_variables();
    if (is_bent_again())
      return bent_by_operators(saved[0], saved[1], saved[3], bent[0]);
    const auto &along = saved[0], &p = saved[2];
    const auto by = bent[0].contiguous(), targets = saved[3].contiguous();
    const auto to_logits = at::empty_like(p);
    const auto n = p.size(1);
    double sum = 0;
    AT_DISPATCH_FLOATING_TYPES(p.scalar_type(), "loss_slopes", [&] {
      const auto* target = targets.data_ptr<std::int64_t>();
      const auto slope = along.item<scalar_t>();
      for (std::int64_t i = 0; i < p.size(0); ++i)
        sum += bend_loss(p.data_ptr<scalar_t>() + i * n,
                         by.data_ptr<scalar_t>() + i * n, n, target[i], slope,
                         to_logits.data_ptr<scalar_t>() + i * n);
    });
    return {at::full({}, sum, p.options()), to_logits, {}, {}};
  }

  /// The formulas of `bend_loss`.
  static variable_list bent_by_operators(const at::Tensor& along,
                                         const at::Tensor& logits,
                                         const at::Tensor& targets,
                                         const at::Tensor& bent) {
    const auto p = at::softmax(logits, 1);
    const auto turn = (bent * p).sum(1, true);
    const auto of_targets = bent.gather(1, targets.unsqueeze(1));
    return {(turn - of_targets).sum(), along * p * (bent - turn), {}, {}};
  }
};

struct loss_function : Function<loss_function> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& logits,
                            const at::Tensor& targets) {
    const auto x = logits.contiguous();
    const auto p = at::empty_like(x);
    const auto largest = at::empty({x.size(0)}, x.options()),
               share = at::empty_like(largest);
    for_blocks(
      x.size(0),
      [&](std::int64_t first, std::int64_t count) {
        const auto some = [=](const at::Tensor& of) {
          return of.narrow(0, first, count);
        };
        auto shares = some(p), to_largest = some(largest),
             to_share = some(share);
        at::_softmax_out(shares, some(x), 1, false);
        at::amax_out(to_largest, some(x), {1});
        at::amax_out(to_share, shares, {1});
      },
      std::max<std::int64_t>(1, numbers_at_once / x.size(1)));
    context->save_for_backward({logits, p, targets});
    // The share of the largest is one over the sum that all are divided by.
    const auto of_targets = x.gather(1, targets.unsqueeze(1)).squeeze(1);
    return (largest - share.log() - of_targets)
      .sum(at::kDouble)
      .to(x.scalar_type());
  }

  static variable_list backward(AutogradContext* context, variable_list along) {
    const auto saved = context->get_saved_variables();
    return {loss_slopes::apply(along[0], saved[0], saved[1], saved[2]), {}};
  }
};

} // namespace

at::Tensor summed_cross_entropy(const at::Tensor& logits,
                                const at::Tensor& targets) {
  return loss_function::apply(logits, targets);
}

} // namespace troupe::models
