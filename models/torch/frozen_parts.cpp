#include "models/torch/frozen_parts.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <span>
#include <utility>

#include "core/assert.hpp"

namespace troupe::models {

namespace {

/// Behind each other. What is kept looks at a copy: parameters are written over
/// where they lie, which torch does not see.
at::Tensor joined(const std::vector<at::Tensor>& xs, bool is_kept) {
  if (xs.size() > 1)
    return at::cat(xs);
  return is_kept ? xs.front().clone() : xs.front();
}

} // namespace

frozen_parts::frozen_parts(std::shared_ptr<const frozen_weights> base)
  : base_(std::move(base)) {
  const auto& tensors = base_->tensors();
  for (std::size_t place = 0; place < tensors.size(); ++place) {
    const auto x = base_->at(place);
    // Nobody writes there: no view requires a gradient.
    views_.push_back(x.type == stored_type::f32
                       ? at::from_blob(const_cast<std::byte*>(x.bytes.data()),
                                       tensors[place].shape)
                       : at::Tensor{});
  }
}

void frozen_parts::attach(
  std::map<std::size_t, std::vector<attached_factors>> beside,
  std::size_t groups, kernels::backend* arithmetic) {
  beside_ = std::move(beside);
  added_.clear();
  blocks_.reset();
  is_out_.assign(groups, false);
  weights_ = at::Tensor{};
  arithmetic_ = arithmetic;
}

void frozen_parts::add(std::size_t place, attached_weights x) {
  TROUPE_ASSERT(place < views_.size() && x.group < is_out_.size());
  added_[place].push_back(std::move(x));
}

void frozen_parts::leave_out(std::size_t group, bool out) {
  TROUPE_ASSERT(group < is_out_.size());
  is_out_[group] = out;
}

void frozen_parts::weigh(at::Tensor weights) {
  TROUPE_ASSERT(!weights.defined()
                || weights.numel()
                     == static_cast<std::int64_t>(is_out_.size()));
  weights_ = std::move(weights);
}

at::Tensor frozen_parts::bare(std::size_t place) const {
  TROUPE_ASSERT(place < views_.size());
  if (views_[place].defined())
    return views_[place];
  auto result = at::empty(base_->tensors()[place].shape, at::kFloat);
  base_->read_rows(place, 0,
                   std::span{result.data_ptr<float>(),
                             static_cast<std::size_t>(result.numel())});
  return result;
}

at::Tensor frozen_parts::filled(std::size_t place) const {
  auto values = bare(place);
  const auto found = added_.find(place);
  if (found == added_.end())
    return values;
  for (const auto& x : found->second) {
    if (is_out_[x.group])
      continue;
    const auto group = static_cast<std::int64_t>(x.group);
    values = values
             + (weights_.defined() && !x.counts_one
                  ? x.values * weights_.select(0, group)
                  : x.values);
  }
  return values;
}

std::optional<frozen_parts::gathered>
frozen_parts::gather(std::size_t place,
                     std::optional<std::uint32_t> expert) const {
  const auto found = beside_.find(place);
  if (found == beside_.end())
    return {};
  gathered to;
  std::vector<at::Tensor> u, v;
  std::vector<std::int64_t> groups;
  std::vector<double> scales;
  for (const auto& x : found->second) {
    TROUPE_ASSERT(x.group < is_out_.size());
    if (is_out_[x.group] || (blocks_ && x.expert != expert))
      continue;
    u.push_back(x.u);
    v.push_back(x.v);
    groups.push_back(static_cast<std::int64_t>(x.group));
    scales.push_back(x.scale);
    to.ranks.push_back(x.u.size(0));
  }
  if (u.empty())
    return {};
  to.u = joined(u, is_kept_);
  to.v = joined(v, is_kept_);
  if (weights_.defined())
    to.weights = weights_.index_select(0, at::tensor(groups, at::kLong));
  to.scale = scales.front();
  if (std::ranges::count(scales, to.scale)
      != static_cast<std::ptrdiff_t>(scales.size())) {
    // Weights carry scales that differ.
    const auto by = at::tensor(scales, at::kFloat);
    to.weights = to.weights.defined() ? to.weights * by : by;
    to.scale = 1;
  }
  return to;
}

at::Tensor frozen_parts::whole(std::size_t place) {
  const auto values = filled(place);
  const auto found = gather(place);
  if (!found)
    return values;
  // Each row of the identity says what a column of the matrix is.
  const auto inputs = at::eye(values.size(1));
  return with_side_terms(values.t(), inputs, found->u, found->v, found->weights,
                         found->ranks, found->scale, arithmetic_)
    .t()
    .contiguous();
}

at::Tensor frozen_parts::rows(std::size_t place, const at::Tensor& ids) {
  auto sizes = ids.sizes().vec();
  const auto columns = static_cast<std::int64_t>(base_->columns(place));
  sizes.push_back(columns);
  const auto flat = ids.reshape({-1}).contiguous();
  at::Tensor y;
  if (views_[place].defined()) {
    y = at::embedding(views_[place], flat);
  } else {
    y = at::empty({flat.numel(), columns}, at::kFloat);
    const auto count = static_cast<std::int64_t>(base_->rows(place));
    auto* to = y.data_ptr<float>();
    for (std::int64_t i = 0; i < flat.numel(); ++i, to += columns) {
      const auto id = flat.data_ptr<std::int64_t>()[i];
      TORCH_CHECK(id >= 0 && id < count, "there is no row ", id, " among ",
                  count);
      base_->read_rows(place, static_cast<std::size_t>(id),
                       std::span{to, static_cast<std::size_t>(columns)});
    }
  }
  if (const auto found = gather(place)) {
    // A row of the product is its values of u times v: the other way round.
    const auto picked = found->u.index_select(1, flat).t();
    const auto ones = at::eye(found->u.size(0));
    y = with_side_terms(y, picked, found->v, ones, found->weights, found->ranks,
                        found->scale, arithmetic_);
  }
  return y.reshape(sizes);
}

at::Tensor frozen_parts::product(std::size_t weight, std::size_t bias,
                                 const at::Tensor& x) {
  at::Tensor y;
  if (is_read_by_rows(weight)) {
    y = frozen_product(base_, weight, x);
    if (bias != no_place)
      y = y + filled(bias);
  } else {
    const auto matrix = filled(weight);
    y = bias == no_place ? at::linear(x, matrix)
                         : at::linear(x, matrix, filled(bias));
  }
  if (!beside_.contains(weight))
    return y;
  // No product needs what it said on its way back.
  if (x.dim() == 2)
    return beside(weight, {}, y, x, tensor_use::alone);
  return beside(weight, {}, y.reshape({-1, y.size(-1)}),
                x.reshape({-1, x.size(-1)}), tensor_use::alone)
    .reshape(y.sizes());
}

open_product frozen_parts::open(std::size_t weight, std::size_t bias,
                                const at::Tensor& x) {
  open_product to{.rows = x};
  if (is_read_by_rows(weight)) {
    to.base = base_;
    to.place = weight;
  } else {
    to.weight = filled(weight);
  }
  if (bias != no_place)
    to.bias = filled(bias);
  if (const auto found = gather(weight)) {
    to.inner =
      into_side_terms(x, found->v, found->weights, found->ranks, found->scale);
    to.u = found->u;
  }
  return to;
}

at::Tensor frozen_parts::beside(std::size_t place,
                                std::optional<std::uint32_t> expert,
                                const at::Tensor& y, const at::Tensor& x,
                                tensor_use y_is) const {
  const auto found = gather(place, expert);
  if (!found)
    return y;
  return with_side_terms(y, x, found->u, found->v, found->weights, found->ranks,
                         found->scale, arithmetic_, y_is);
}

void frozen_parts::begin(const pass_facts& x) {
  is_kept_ = x.is_kept;
  if (blocks_)
    blocks_->begin(x);
}

at::Tensor frozen_parts::routed(std::size_t layer, const at::Tensor& x) {
  if (!blocks_)
    return {};
  return blocks_->forward(
    *this,
    [this](std::uint32_t expert, std::size_t weight, const at::Tensor& y,
           const at::Tensor& rows) { return beside(weight, expert, y, rows); },
    layer, x);
}

bool frozen_parts::balances() const {
  return blocks_ && blocks_->balances();
}

at::Tensor frozen_parts::balance() {
  return blocks_ ? blocks_->balance() : at::Tensor{};
}

std::vector<at::Tensor> frozen_parts::take_loads() {
  return blocks_ ? blocks_->take_loads() : std::vector<at::Tensor>{};
}

} // namespace troupe::models
