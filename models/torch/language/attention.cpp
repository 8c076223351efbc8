#include "models/torch/language/attention.hpp"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "models/torch/language/second_slopes.hpp"

namespace troupe::models {

namespace {

/// True where a token may not look; not defined: it may look everywhere.
at::Tensor unseen(const attention_input& x) {
  const auto places = at::arange(x.query.size(2), at::kLong);
  const auto of_query = places.unsqueeze(1);
  const auto of_key = places.unsqueeze(0);
  at::Tensor result;
  if (x.causal)
    result = of_key.gt(of_query);
  if (x.there.defined()) {
    // Padding sees itself: a softmax over nothing would be no number, which
    // spreads through slopes of zero.
    const auto padding = x.there.logical_not().unsqueeze(1).unsqueeze(1);
    const auto absent = padding.logical_and(of_key.ne(of_query));
    result = result.defined() ? result.logical_or(absent) : absent;
  }
  return result;
}

/// Each head as often as there are heads of queries for it, beside each other.
at::Tensor repeated(const at::Tensor& x, std::int64_t heads) {
  const auto times = heads / x.size(1);
  if (times == 1)
    return x;
  return x.unsqueeze(2)
    .expand({x.size(0), x.size(1), times, x.size(2), x.size(3)})
    .reshape({x.size(0), heads, x.size(2), x.size(3)});
}

} // namespace

at::Tensor attend(const attention_input& x) {
  const auto heads = x.query.size(1);
  const auto scale = 1 / std::sqrt(static_cast<double>(x.query.size(3)));
  auto scores =
    at::matmul(x.query * scale, repeated(x.key, heads).transpose(2, 3));
  if (x.bias.defined())
    scores = scores + x.bias;
  if (const auto hidden = unseen(x); hidden.defined())
    scores =
      scores.masked_fill(hidden, -std::numeric_limits<double>::infinity());
  return at::matmul(softmax_of_last(scores), repeated(x.value, heads));
}

at::Tensor in_heads(const at::Tensor& x, std::int64_t heads) {
  return x.reshape({x.size(0), x.size(1), heads, x.size(2) / heads})
    .transpose(1, 2);
}

at::Tensor out_of_heads(const at::Tensor& x) {
  return x.transpose(1, 2).reshape(
    {x.size(0), x.size(2), x.size(1) * x.size(3)});
}

} // namespace troupe::models
