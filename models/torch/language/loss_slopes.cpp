// The summed cross-entropy of what a head says, some rows at a time: of a whole
// batch that is larger than a model. It is made once for the loss and its
// slopes, and once more for what these are bent by. Of a row p, the softmax of
// its logits, and t, what these change by where slopes are bent:
//
//   loss = log of the sum of exp(logits) - logit of the target,
//   slope = along * (p - 1 at the target),
//   bend = along * p * (t - its mean by p)
//
// Logits are products a b^T, of the head and of what is beside it, and a bias.
// What is g along them is g b along a, and g^T a along b.
//
// Shares of the last rows stay with the graph: while slopes are bent a second
// tensor is as large, so they do not add to the most that is there.

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/assert.hpp"
#include "models/torch/frozen_parts.hpp"
#include "models/torch/language/row_loops.hpp"
#include "models/torch/language/second_slopes.hpp"

namespace troupe::models {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

/// The tensors of a loss: a and b of the head, those of what is beside it, and
/// a bias. In a graph what is not there is empty.
constexpr std::size_t pairs = 2, bias_at = 4, tensors_of_loss = 5;

bool is_there(const at::Tensor& x) {
  return x.defined() && x.numel() > 0;
}

/// What a loss has beside these, for as long as its graph.
struct loss_facts {
  std::shared_ptr<const frozen_weights> base; ///< Null: b is a tensor.
  std::size_t place = 0;
  at::Tensor targets; ///< [n x 1], Long.
  std::int64_t at_once = 1;
  variable_list slopes = {};   ///< Of the loss; undefined where nobody asks.
  at::Tensor last_shares = {}; ///< Undefined: they were used.
};

using shared_facts = std::shared_ptr<loss_facts>;

struct held_facts : torch::CustomClassHolder {
  explicit held_facts(shared_facts x) : facts(std::move(x)) {
    // nop
  }

  shared_facts facts;
};

void hold(AutogradContext& context, const shared_facts& x) {
  context.saved_data["facts"] =
    c10::IValue::make_capsule(c10::make_intrusive<held_facts>(x));
}

shared_facts held_by(AutogradContext& context) {
  const auto held = context.saved_data["facts"].toCapsule();
  return static_cast<const held_facts&>(*held).facts;
}

/// Some rows that go through the head together.
struct row_range {
  std::int64_t first = 0;
  std::int64_t count = 0;

  at::Tensor of(const at::Tensor& x) const {
    return is_there(x) ? x.narrow(0, first, count) : x;
  }

  /// Of all tensors of a loss: each a has the rows.
  variable_list of(variable_list x) const {
    for (std::size_t k = 0; k < pairs; ++k)
      x[2 * k] = of(x[2 * k]);
    return x;
  }
};

at::Tensor through_head(const loss_facts& facts, const variable_list& x,
                        const at::Tensor& a) {
  return facts.base ? frozen_product(facts.base, facts.place, a)
                    : a.mm(x[1].t());
}

at::Tensor logits_of(const loss_facts& facts, const variable_list& x) {
  auto y = through_head(facts, x, x[0]);
  if (is_there(x[3]))
    y.addmm_(x[2], x[3].t());
  if (is_there(x[bias_at]))
    y.add_(x[bias_at]);
  return y;
}

/// What logits change by where x does by so much. Undefined: nothing does.
at::Tensor change_of(const loss_facts& facts, const variable_list& x,
                     const variable_list& by) {
  at::Tensor sum;
  const auto add = [&](const at::Tensor& a, const at::Tensor& b) {
    sum = sum.defined() ? sum.addmm_(a, b.t()) : a.mm(b.t());
  };
  if (is_there(by[0]))
    sum = through_head(facts, x, by[0]);
  if (is_there(by[1]))
    add(x[0], by[1]);
  if (is_there(by[2]))
    add(by[2], x[3]);
  if (is_there(by[3]))
    add(x[2], by[3]);
  if (is_there(by[bias_at]))
    add(at::ones({x[0].size(0), 1}, x[0].options()), by[bias_at].unsqueeze(1));
  return sum;
}

/// Adds what g along products of x is along their sides. Undefined in `to`:
/// nobody asks.
void add_slopes(const at::Tensor& g, const variable_list& x,
                const row_range& rows, const variable_list& to) {
  for (std::size_t k = 0; k < pairs; ++k) {
    const auto &a = x[2 * k], &b = x[2 * k + 1];
    if (to[2 * k].defined() && is_there(b))
      rows.of(to[2 * k]).addmm_(g, b);
    if (to[2 * k + 1].defined() && is_there(a))
      to[2 * k + 1].addmm_(g.t(), rows.of(a));
  }
}

/// The same, and by the base and along the bias.
void add_slopes_of_logits(const loss_facts& facts, const at::Tensor& g,
                          const variable_list& x, const row_range& rows,
                          const variable_list& to) {
  add_slopes(g, x, rows, to);
  if (facts.base && to[0].defined())
    rows.of(to[0]).add_(frozen_product_back(facts.base, facts.place, g));
  if (to[bias_at].defined())
    to[bias_at].add_(g.sum(0));
}

/// Makes logits their shares, and returns the summed loss.
double to_shares(const at::Tensor& logits, const at::Tensor& targets) {
  double sum = 0;
  for_blocks(
    logits.size(0),
    [&](std::int64_t first, std::int64_t count) {
      const row_range rows{first, count};
      const auto some = rows.of(logits);
      const auto shares = at::softmax(some, 1);
      // The share of the largest is one over the sum that all are divided by.
      const auto losses = some.amax({1}) - shares.amax({1}).log()
                          - some.gather(1, rows.of(targets)).squeeze(1);
      sum += losses.sum(at::kDouble).item<double>();
      some.copy_(shares);
    },
    std::max<std::int64_t>(1, numbers_at_once / logits.size(1)));
  return sum;
}

/// One row: of what logits change by what slopes do. Returns the part of it
/// that is along what slopes are along.
template <class T>
double bend_loss(const T* p, T* change, std::int64_t n, std::int64_t target,
                 T along) {
  const auto [mean] =
    sums_of<T, 1>(n, [&](auto at) { return std::array{at(p) * at(change)}; });
  const auto turn = static_cast<T>(mean);
  const auto to_along = mean - double{change[target]};
  for_strips<T>(
    n, [&](auto at) { at.put(change, at(p) * (at(change) - turn) * along); });
  return to_along;
}

/// What slopes of a loss are bent by, and where that goes.
class loss_bend {
public:
  loss_bend(loss_facts& facts, const at::Tensor& along, variable_list x,
            variable_list by, variable_list to)
    : facts_(facts),
      along_(along),
      x_(std::move(x)),
      by_(std::move(by)),
      by_along_(x_.size()),
      to_(std::move(to)),
      to_along_(at::zeros({}, along.options())) {
    for (std::size_t i = 0; i < x_.size(); ++i)
      if (is_there(by_[i]))
        by_along_[i] = by_[i] * along_;
  }

  void add(const row_range& rows) {
    const auto x = rows.of(x_);
    const auto change = change_of(facts_, x, rows.of(by_));
    if (!change.defined())
      return;
    const auto targets = rows.of(facts_.targets);
    const auto p = shares_of(x, targets);
    if (bends_products())
      add_slopes(p.scatter(1, targets, p.gather(1, targets) - 1), by_along_,
                 rows, to_);
    add_slopes_of_logits(facts_, bent(p, change, targets), x_, rows, to_);
  }

  variable_list take() {
    to_.insert(to_.begin(), to_along_);
    to_.resize(tensors_of_loss + 2); // Nothing is along what is no tensor.
    return std::move(to_);
  }

private:
  /// Something is bent whose other side has slopes.
  bool bends_products() const {
    for (std::size_t k = 0; k < pairs; ++k)
      if ((is_there(by_[2 * k]) && to_[2 * k + 1].defined())
          || (is_there(by_[2 * k + 1]) && to_[2 * k].defined()))
        return true;
    return false;
  }

  at::Tensor shares_of(const variable_list& x, const at::Tensor& targets) {
    if (is_bent_again())
      return at::softmax(logits_of(facts_, x), 1);
    if (facts_.last_shares.defined())
      return std::exchange(facts_.last_shares, {});
    const auto p = logits_of(facts_, x);
    to_shares(p, targets);
    return p;
  }

  at::Tensor bent(const at::Tensor& p, const at::Tensor& change,
                  const at::Tensor& targets) {
    if (is_bent_again()) { // The formulas of `bend_loss`.
      const auto turn = (p * change).sum(1, true);
      to_along_ = to_along_ + (turn - change.gather(1, targets)).sum();
      return along_ * p * (change - turn);
    }
    const auto wanted = targets.contiguous();
    const auto n = p.size(1);
    double sum = 0;
    AT_DISPATCH_FLOATING_TYPES(p.scalar_type(), "loss_bend", [&] {
      const auto* target = wanted.data_ptr<std::int64_t>();
      const auto slope = along_.item<scalar_t>();
      for (std::int64_t i = 0; i < p.size(0); ++i)
        sum +=
          bend_loss(p.data_ptr<scalar_t>() + i * n,
                    change.data_ptr<scalar_t>() + i * n, n, target[i], slope);
    });
    to_along_ = to_along_ + sum;
    return change;
  }

  loss_facts& facts_;
  at::Tensor along_;
  variable_list x_, by_, by_along_, to_;
  at::Tensor to_along_;
};

/// The slopes of `summed_cross_entropy`.
struct loss_slopes : Function<loss_slopes> {
  static variable_list forward(AutogradContext* context,
                               const at::Tensor& along, const at::Tensor& a,
                               const at::Tensor& b, const at::Tensor& inner,
                               const at::Tensor& u, const at::Tensor& bias,
                               const shared_facts& facts) {
    context->save_for_backward({along, a, b, inner, u, bias});
    context->set_materialize_grads(false);
    hold(*context, facts);
    variable_list slopes;
    for (const auto& x : facts->slopes)
      slopes.push_back(x.defined() ? x * along
                                   : at::empty({0}, along.options()));
    return slopes;
  }

  static variable_list backward(AutogradContext* context, variable_list by) {
    auto x = context->get_saved_variables();
    const auto along = x.front();
    x.erase(x.begin());
    variable_list to(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      if (is_there(x[i]) && context->needs_input_grad(i + 1))
        to[i] = at::zeros_like(x[i]);
    const auto facts = held_by(*context);
    const auto count = x.front().size(0), at_once = facts->at_once;
    loss_bend bend{*facts, along, std::move(x), std::move(by), std::move(to)};
    // From behind: the shares that are there go first.
    for (auto end = count; end > 0;) {
      const auto first = (end - 1) / at_once * at_once;
      bend.add({.first = first, .count = end - first});
      end = first;
    }
    return bend.take();
  }
};

struct loss_function : Function<loss_function> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& a,
                            const at::Tensor& b, const at::Tensor& inner,
                            const at::Tensor& u, const at::Tensor& bias,
                            const shared_facts& facts) {
    const variable_list x{a, b, inner, u, bias};
    context->save_for_backward(x);
    hold(*context, facts);
    auto& slopes = facts->slopes;
    for (const auto& some : x)
      slopes.push_back(is_there(some) && some.requires_grad()
                         ? at::zeros_like(some)
                         : at::Tensor{});
    double sum = 0;
    for_blocks(
      a.size(0),
      [&](std::int64_t first, std::int64_t count) {
        const row_range rows{first, count};
        const auto targets = rows.of(facts->targets);
        const auto p = logits_of(*facts, rows.of(x));
        sum += to_shares(p, targets);
        const auto of_targets = p.gather(1, targets);
        p.scatter_(1, targets, of_targets - 1);
        add_slopes_of_logits(*facts, p, x, rows, slopes);
        if (first + count == a.size(0))
          facts->last_shares = p.scatter_(1, targets, of_targets);
      },
      facts->at_once);
    return at::full({}, sum, a.options());
  }

  static variable_list backward(AutogradContext* context, variable_list along) {
    const auto x = context->get_saved_variables();
    const auto facts = held_by(*context);
    auto to = loss_slopes::apply(along[0], x[0], x[1], x[2], x[3], x[4], facts);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!facts->slopes[i].defined())
        to[i] = at::Tensor{};
    to.resize(tensors_of_loss + 1);
    return to;
  }
};

} // namespace

at::Tensor summed_cross_entropy(const open_product& logits,
                                const at::Tensor& targets,
                                std::int64_t at_once) {
  TROUPE_ASSERT(at_once > 0 && logits.rows.size(0) == targets.size(0));
  const auto in_graph = [&](const at::Tensor& x) {
    return x.defined() ? x : at::empty({0}, logits.rows.options());
  };
  const auto facts =
    std::make_shared<loss_facts>(loss_facts{.base = logits.base,
                                            .place = logits.place,
                                            .targets = targets.unsqueeze(1),
                                            .at_once = at_once});
  return loss_function::apply(
    logits.rows, in_graph(logits.weight), in_graph(logits.inner),
    in_graph(logits.u.defined() ? logits.u.t() : logits.u),
    in_graph(logits.bias), facts);
}

} // namespace troupe::models
