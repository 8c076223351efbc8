#include "models/torch/group_buffers.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "core/assert.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "models/families.hpp"
#include "models/labels.hpp"

namespace troupe::models {

namespace {

result<void> refuse(const inner_group& x, const std::string& what) {
  return fail(errc::invalid_config, in_quotes(x.name) + ' ' + what);
}

std::string extents_of(const adapted_matrix& x) {
  return std::to_string(x.rows) + " x " + std::to_string(x.columns);
}

std::vector<float> initial_routers(const adapter_plan& plan,
                                   std::uint64_t seed) {
  std::vector<float> all;
  all.reserve(plan.size());
  for (std::size_t i = 0; i < plan.tensors.size(); ++i) {
    random_stream draws{derive_seed(seed, router_family, i)};
    for (std::size_t j = 0; j < plan.tensors[i].size(); ++j)
      all.push_back(static_cast<float>(router_deviation * draws.normal()));
  }
  return all;
}

} // namespace

group_buffers::group_buffers(std::shared_ptr<const language_base> base)
  : group_buffers(base, &base->spec()) {
  // nop
}

group_buffers::group_buffers(std::shared_ptr<const frozen_weights> base,
                             const language_spec* spec)
  : base_(std::move(base)),
    spec_(spec),
    parts_(base_) {
  const auto& tensors = base_->tensors();
  for (std::size_t place = 0; place < tensors.size(); ++place) {
    place_at_[base_size_] = place;
    base_size_ += tensors[place].size();
  }
}

const tensor_list& group_buffers::base_list() const noexcept {
  return base_->tensors();
}

const digest& group_buffers::base_content() const noexcept {
  return base_->content();
}

std::string group_buffers::name_of_model() const {
  return spec_ != nullptr ? describe(*spec_) + ',' : "this model";
}

bool group_buffers::learns() const noexcept {
  return shares_.defined() || std::ranges::any_of(states_, [](const auto& x) {
           return x.is_on && !x.is_out;
         });
}

bool group_buffers::can_be_kept() const noexcept {
  return learns() && !shares_.defined() && !parts_.is_routed();
}

std::vector<group_buffers::leaf> group_buffers::leaves() const {
  std::vector<leaf> all;
  for (const auto& x : states_)
    if (x.is_on && !x.is_out)
      all.insert(all.end(), x.leaves.begin(), x.leaves.end());
  return all;
}

std::vector<float> group_buffers::initial(std::uint64_t seed) const {
  std::vector<float> all;
  all.reserve(values_.size());
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const auto& x = groups_[i];
    const auto its_seed = derive_seed(seed, x.name);
    const auto some = is_router(i) ? initial_routers(x.plan, its_seed)
                                   : initial_adapter(x.plan, its_seed);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

result<void> group_buffers::check(const inner_group& x) const {
  const auto and_model =
    "; a plan over the tensors of " + name_of_model() + " would do";
  for (const auto& v : x.plan.vectors) {
    const auto found = place_at_.find(v.at);
    const bool is_there = found != place_at_.end()
                          && base_->tensors()[found->second].size() == v.size;
    if (spec_ == nullptr && !is_there)
      return refuse(x, "has a tensor of " + std::to_string(v.size)
                         + " values at value " + std::to_string(v.at)
                         + ", where this model has none" + and_model);
    if (spec_ != nullptr
        && (!is_there
            || !base_->tensors()[found->second].name.starts_with(head_prefix)))
      return refuse(x, "adapts biases, which adapters inside layers do not; "
                       "adapter_bias = 0 would do");
  }
  if (x.counts_one && !x.plan.matrices.empty())
    return refuse(x, "has factors, which a share of a mixture is of; tensors "
                     "that are whole would do");
  if (x.plan.model_size != base_size_)
    return refuse(x, "is a plan over " + std::to_string(x.plan.model_size)
                       + " values, and this model has "
                       + std::to_string(base_size_) + and_model);
  for (const auto& m : x.plan.matrices) {
    const auto found = place_at_.find(m.at);
    const bool is_there = found != place_at_.end() && m.order.empty()
                          && base_->tensors()[found->second].shape.size() == 2
                          && base_->rows(found->second) == m.rows
                          && base_->columns(found->second) == m.columns;
    if (!is_there)
      return refuse(x, "adapts a layer of " + extents_of(m) + " at value "
                         + std::to_string(m.at) + ", where this model has none"
                         + and_model);
    if (const auto most = std::min(m.rows, m.columns); m.rank > most)
      return refuse(x, "has rank " + std::to_string(m.rank) + " for "
                         + in_quotes(base_->tensors()[found->second].name)
                         + ", which is " + extents_of(m) + "; "
                         + std::to_string(most) + " at most would do");
  }
  return {};
}

result<void> group_buffers::check(std::span<const inner_group> groups) const {
  std::set<std::string> names;
  for (const auto& x : groups) {
    if (!names.insert(x.name).second)
      return refuse(x, "is attached twice; a name for each group would do");
    if (auto ok = check(x); !ok)
      return ok;
  }
  return {};
}

group_buffers::leaf group_buffers::make_leaf(std::size_t at,
                                             std::vector<std::int64_t> shape) {
  leaf x{.values = at::from_blob(values_.data() + at, shape), .at = at};
  x.values.requires_grad_();
  x.values.mutable_grad() = at::from_blob(slopes_.data() + at, shape);
  return x;
}

result<void> group_buffers::attach(std::vector<inner_group> groups,
                                   kernels::backend* arithmetic) {
  if (auto ok = check(groups); !ok)
    return ok;
  arithmetic_ = arithmetic;
  lay_out(std::move(groups), false);
  return {};
}

void group_buffers::lay_out(std::vector<inner_group> groups, bool routers) {
  std::size_t size = 0;
  tensor_list list;
  for (const auto& x : groups) {
    size += x.plan.size();
    for (const auto& tensor : x.plan.tensors)
      list.push_back({x.name + '/' + tensor.name, tensor.shape});
  }
  // What was attached is let go of when its place is no longer looked into.
  aligned_floats values(size), slopes(size);
  values_.swap(values);
  slopes_.swap(slopes);
  groups_ = std::move(groups);
  list_ = std::move(list);
  states_.clear();
  shares_ = at::Tensor{};
  has_routers_ = routers;
  stand_beside();
}

void group_buffers::stand_beside() {
  std::map<std::size_t, std::vector<frozen_parts::attached_factors>> beside;
  std::vector<std::pair<std::size_t, frozen_parts::attached_weights>> whole;
  std::size_t at = 0;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const auto& x = groups_[i];
    group_state state{.at = at, .size = x.plan.size()};
    const auto add = [&](std::size_t first, std::vector<std::int64_t> shape) {
      state.leaves.push_back(make_leaf(at + first, std::move(shape)));
      return state.leaves.back().values;
    };
    for (const auto& m : x.plan.matrices) {
      const auto rank = static_cast<std::int64_t>(m.rank);
      const auto u = add(m.u_at, {rank, static_cast<std::int64_t>(m.rows)});
      const auto v = add(m.v_at, {rank, static_cast<std::int64_t>(m.columns)});
      beside[place_at_.at(m.at)].push_back(
        {.u = u,
         .v = v,
         .scale = static_cast<double>(x.scale) * m.scale,
         .group = i,
         .expert = x.expert});
    }
    for (const auto& v : x.plan.vectors) {
      const auto place = place_at_.at(v.at);
      whole.emplace_back(
        place, frozen_parts::attached_weights{
                 .values = add(v.in_adapter, base_->tensors()[place].shape),
                 .group = i,
                 .counts_one = x.counts_one});
    }
    if (is_router(i)) {
      std::size_t first = 0;
      for (const auto& tensor : x.plan.tensors) {
        add(first, tensor.shape);
        first += tensor.size();
      }
    }
    at += state.size;
    states_.push_back(std::move(state));
  }
  parts_.attach(std::move(beside), groups_.size(), arithmetic_);
  for (auto& x : whole)
    parts_.add(x.first, std::move(x.second));
}

std::span<float> group_buffers::values_of(std::size_t group) noexcept {
  TROUPE_ASSERT(group < states_.size());
  return values().subspan(states_[group].at, states_[group].size);
}

std::span<float> group_buffers::gradient_of(std::size_t group) noexcept {
  TROUPE_ASSERT(group < states_.size());
  return slopes().subspan(states_[group].at, states_[group].size);
}

void group_buffers::switch_on(std::size_t group, bool on) noexcept {
  TROUPE_ASSERT(group < states_.size());
  states_[group].is_on = on;
  for (const auto& x : states_[group].leaves)
    x.values.requires_grad_(on);
}

void group_buffers::leave_out(std::size_t group, bool out) noexcept {
  TROUPE_ASSERT(group < states_.size());
  states_[group].is_out = out;
  parts_.leave_out(group, out);
  if (is_router(group))
    parts_.blocks()->leave_out(out);
  if (out)
    std::ranges::fill(gradient_of(group), 0.f);
}

// The same tensor as before where there is one: slopes that nobody read yet
// stay.
void group_buffers::mix(std::span<const double> shares) {
  TROUPE_ASSERT(shares.empty() || shares.size() == groups_.size());
  if (shares.empty()) {
    shares_ = at::Tensor{};
  } else {
    if (!shares_.defined()) {
      const auto count = static_cast<std::int64_t>(shares.size());
      shares_ = at::ones({count}, at::kFloat).requires_grad_();
      shares_.mutable_grad() = at::zeros({count}, at::kFloat);
    }
    auto* to = shares_.data_ptr<float>();
    for (const auto share : shares)
      *to++ = static_cast<float>(share);
  }
  parts_.weigh(shares_);
}

std::vector<double> group_buffers::share_slopes() {
  std::vector<double> slopes(groups_.size());
  if (!shares_.defined())
    return slopes;
  auto& gradient = shares_.mutable_grad();
  std::copy_n(gradient.data_ptr<float>(), slopes.size(), slopes.begin());
  gradient.zero_();
  return slopes;
}

} // namespace troupe::models
