#include "tests/support/inner_regression.hpp"

#include <algorithm>
#include <utility>

#include "core/assert.hpp"
#include "core/random.hpp"

namespace troupe::test {

inner_regression::inner_regression(
  std::shared_ptr<const models::regression_problem> of)
  : of_(std::move(of)) {
  TROUPE_ASSERT(of_->sums_targets && !of_->has_bias);
  models::regression whole{of_, {}};
  base_list_ = whole.parameter_list();
  base_ = whole.initial_parameters(1);
}

void inner_regression::add_product(std::size_t group, std::span<const float> u,
                                   std::span<const float> v,
                                   doubles& to) const {
  const auto& m = groups_[group].plan.matrices.front();
  for (std::size_t k = 0; k < m.rank; ++k)
    for (std::size_t i = 0; i < m.rows; ++i)
      for (std::size_t j = 0; j < m.columns; ++j)
        to[i * m.columns + j] +=
          m.scale * static_cast<double>(u[m.u_at + k * m.rows + i])
          * static_cast<double>(v[m.v_at + k * m.columns + j]);
}

void inner_regression::pull_back(std::size_t group,
                                 std::span<const float> factors,
                                 const doubles& slopes) {
  const auto& m = groups_[group].plan.matrices.front();
  const auto to = gradient_of(group);
  for (std::size_t k = 0; k < m.rank; ++k) {
    const auto u = factors.subspan(m.u_at + k * m.rows, m.rows);
    const auto v = factors.subspan(m.v_at + k * m.columns, m.columns);
    doubles of_u(m.rows), of_v(m.columns);
    for (std::size_t i = 0; i < m.rows; ++i)
      for (std::size_t j = 0; j < m.columns; ++j) {
        const auto slope = m.scale * slopes[i * m.columns + j];
        of_u[i] += slope * static_cast<double>(v[j]);
        of_v[j] += slope * static_cast<double>(u[i]);
      }
    for (std::size_t i = 0; i < m.rows; ++i)
      to[m.u_at + k * m.rows + i] += static_cast<float>(of_u[i]);
    for (std::size_t j = 0; j < m.columns; ++j)
      to[m.v_at + k * m.columns + j] += static_cast<float>(of_v[j]);
  }
}

inner_regression::doubles inner_regression::matrix() const {
  doubles layer(base_.begin(), base_.end());
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const auto own = std::span<const float>{values_}.subspan(
      states_[g].at, groups_[g].plan.size());
    if (!states_[g].is_out)
      add_product(g, own, own, layer);
  }
  return layer;
}

double inner_regression::error(models::split part, std::uint32_t row,
                               std::size_t target, const doubles& layer,
                               bool with_targets) const {
  const auto& from = part == models::split::train ? of_->train : of_->test;
  double sum =
    with_targets
      ? -static_cast<double>(from.targets[row * of_->targets + target])
      : 0;
  for (std::size_t j = 0; j < of_->inputs; ++j)
    sum += layer[target * of_->inputs + j]
           * static_cast<double>(from.inputs[row * of_->inputs + j]);
  return sum;
}

inner_regression::doubles inner_regression::slopes_at(row_span rows,
                                                      const doubles& layer,
                                                      bool with_targets) const {
  doubles slopes(layer.size());
  const auto share = 2 / static_cast<double>(rows.size());
  for (const auto row : rows)
    for (std::size_t i = 0; i < of_->targets; ++i) {
      const auto by =
        share * error(models::split::train, row, i, layer, with_targets);
      for (std::size_t j = 0; j < of_->inputs; ++j)
        slopes[i * of_->inputs + j] +=
          by * static_cast<double>(of_->train.inputs[row * of_->inputs + j]);
    }
  return slopes;
}

void inner_regression::note(bool twice) {
  pass x{.of = {}, .twice = twice};
  for (std::size_t g = 0; g < groups_.size(); ++g)
    if (states_[g].learns())
      x.of.insert(groups_[g].name);
  passes_.push_back(std::move(x));
}

result<double> inner_regression::backward(row_span rows, std::uint64_t) {
  note(false);
  const auto layer = matrix();
  const auto slopes = slopes_at(rows, layer, true);
  for (std::size_t g = 0; g < groups_.size(); ++g)
    if (states_[g].learns())
      pull_back(g, values_of(g), slopes);
  double loss = 0;
  for (const auto row : rows)
    for (std::size_t i = 0; i < of_->targets; ++i) {
      const auto apart = error(models::split::train, row, i, layer, true);
      loss += apart * apart;
    }
  return loss / static_cast<double>(rows.size());
}

result<void> inner_regression::curve(row_span rows, std::uint64_t,
                                     std::span<const float> direction) {
  TROUPE_ASSERT(direction.size() == values_.size());
  note(true);
  const auto part = [&](std::size_t g) {
    return direction.subspan(states_[g].at, groups_[g].plan.size());
  };
  const auto layer = matrix();
  doubles change(layer.size());
  for (std::size_t g = 0; g < groups_.size(); ++g)
    if (states_[g].learns()) {
      add_product(g, part(g), values_of(g), change);
      add_product(g, values_of(g), part(g), change);
    }
  const auto slopes = slopes_at(rows, layer, true);
  const auto curved = slopes_at(rows, change, false);
  for (std::size_t g = 0; g < groups_.size(); ++g)
    if (states_[g].learns()) {
      pull_back(g, values_of(g), curved);
      pull_back(g, part(g), slopes);
    }
  return {};
}

/// All that a curve depends on, as it was.
class inner_regression::kept_point final : public models::kept_gradient {
public:
  kept_point(inner_regression& of, row_span rows)
    : of_(of),
      rows_(rows.begin(), rows.end()),
      values_(of.values_),
      states_(of.states_) {
    // nop
  }

  result<void> curve(std::span<const float> direction) override {
    TROUPE_ASSERT(std::exchange(is_new_, false));
    exchange();
    auto done = of_.curve(rows_, 0, direction);
    exchange();
    of_.passes_.back().kept = true;
    return done;
  }

private:
  void exchange() {
    std::swap(values_, of_.values_);
    std::swap(states_, of_.states_);
  }

  inner_regression& of_;
  std::vector<std::uint32_t> rows_;
  models::aligned_floats values_;
  std::vector<group_state> states_;
  bool is_new_ = true;
};

result<models::kept_loss>
inner_regression::backward_and_keep(row_span rows, std::uint64_t seed) {
  return backward(rows, seed).map([&](double loss) {
    passes_.back().kept = true;
    return models::kept_loss{
      .loss = loss, .gradient = std::make_unique<kept_point>(*this, rows)};
  });
}

result<models::scores> inner_regression::evaluate(models::split part,
                                                  row_span rows) {
  const auto layer = matrix();
  models::scores sum;
  for (const auto row : rows) {
    for (std::size_t i = 0; i < of_->targets; ++i) {
      const auto apart = error(part, row, i, layer, true);
      sum.loss += apart * apart;
    }
    ++sum.count;
  }
  return sum;
}

std::vector<float> inner_regression::initial_parameters(std::uint64_t seed) {
  std::vector<float> all;
  for (const auto& x : groups_) {
    const auto some =
      models::initial_adapter(x.plan, derive_seed(seed, x.name));
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

result<void> inner_regression::attach(std::vector<models::inner_group> groups,
                                      kernels::backend*) {
  groups_ = std::move(groups);
  states_.clear();
  list_.clear();
  std::size_t size = 0;
  for (const auto& x : groups_) {
    TROUPE_ASSERT(x.scale == 1 && x.plan.matrices.size() == 1
                  && x.plan.vectors.empty());
    states_.push_back({.at = size});
    size += x.plan.size();
    for (const auto& tensor : x.plan.tensors)
      list_.push_back({x.name + '/' + tensor.name, tensor.shape});
  }
  values_.assign(size, 0);
  slopes_.assign(size, 0);
  return {};
}

std::span<float> inner_regression::values_of(std::size_t group) noexcept {
  return parameters().subspan(states_[group].at, groups_[group].plan.size());
}

std::span<float> inner_regression::gradient_of(std::size_t group) noexcept {
  return gradient().subspan(states_[group].at, groups_[group].plan.size());
}

void inner_regression::switch_on(std::size_t group, bool on) noexcept {
  states_[group].is_on = on;
}

void inner_regression::leave_out(std::size_t group, bool out) noexcept {
  states_[group].is_out = out;
  if (out)
    std::ranges::fill(gradient_of(group), 0.f);
}

void inner_regression::mix(std::span<const double> shares) {
  TROUPE_ASSERT(shares.empty());
}

std::vector<double> inner_regression::share_slopes() {
  return std::vector<double>(groups_.size());
}

result<void> inner_regression::route(const models::routing_options&) {
  return fail(errc::unsupported, "a linear layer has no experts");
}

inner_regression::routing_seen inner_regression::take_routing() {
  return {};
}

result<std::vector<std::uint32_t>> inner_regression::routes(models::split,
                                                            std::uint32_t) {
  return fail(errc::unsupported, "a linear layer has no experts");
}

} // namespace troupe::test
