#include "models/methods/live_mixture.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/assert.hpp"
#include "models/attached_groups.hpp"
#include "models/families.hpp"

namespace troupe::models {

namespace {

/// Of the groups the base is the first, and adapters follow.
constexpr std::size_t of_base = 0;

constexpr std::size_t group_of(std::size_t adapter) noexcept {
  return adapter + 1;
}

} // namespace

result<live_mixture> live_mixture::make(const local_problem& on,
                                        std::size_t adapters) {
  TROUPE_ASSERT(on.adapters != nullptr);
  live_mixture made{on};
  auto* inside = on.model.inside();
  if (inside == nullptr) {
    made.composed_ =
      std::make_unique<adapter_mixture>(*on.adapters, on.arithmetic);
    return made;
  }
  std::vector<inner_group> groups;
  groups.push_back(whole_base(model_family, inside->base_list()));
  for (std::size_t c = 0; c < adapters; ++c)
    groups.push_back(
      {.name = std::string{adapter_family} + '.' + std::to_string(c),
       .plan = *on.adapters});
  return attach_groups(*inside, std::move(groups), on.arithmetic).map([&] {
    return std::move(made);
  });
}

result<void> live_mixture::put(kernels::const_array base,
                               std::span<const floats> adapters,
                               std::span<const double> parts) {
  if (composed_)
    return composed_->compose(base, adapters, parts, on_->model.parameters());
  auto* inside = on_->model.inside();
  TROUPE_ASSERT(inside->groups().size() == group_of(adapters.size())
                && parts.size() == adapters.size());
  // One that counts one is what it is without a mixture.
  if (adapters.size() == 1 && parts.front() == 1) {
    inside->mix({});
  } else {
    std::vector<double> shares(group_of(0), 1.0);
    shares.insert(shares.end(), parts.begin(), parts.end());
    inside->mix(shares);
  }
  for (std::size_t c = 0; c < adapters.size(); ++c) {
    const auto to = inside->values_of(group_of(c));
    TROUPE_ASSERT(to.size() == adapters[c].size());
    std::ranges::copy(adapters[c], to.begin());
    inside->leave_out(group_of(c), parts[c] == 0);
  }
  return on_->arithmetic.copy(base, inside->values_of(of_base));
}

void live_mixture::let_learn(bool all) {
  if (composed_)
    return;
  auto* inside = on_->model.inside();
  for (std::size_t g = 0; g < inside->groups().size(); ++g)
    inside->switch_on(g, all);
}

result<void> live_mixture::take(std::span<const floats> adapters,
                                std::span<const double> parts,
                                adapter_mixture::slopes& to) {
  if (composed_)
    return composed_->pull_back(on_->model.gradient(), adapters, parts, to);
  auto* inside = on_->model.inside();
  const auto of_groups = inside->share_slopes();
  to.adapters.resize(adapters.size());
  to.shares.assign(of_groups.begin() + group_of(0), of_groups.end());
  for (std::size_t c = 0; c < adapters.size(); ++c) {
    const auto slopes = inside->gradient_of(group_of(c));
    to.adapters[c].assign(slopes.begin(), slopes.end());
    std::ranges::fill(slopes, 0.f); // The next step begins from nothing.
  }
  return {};
}

kernels::array live_mixture::slopes_of_base() const {
  if (composed_)
    return on_->model.gradient();
  return on_->model.inside()->gradient_of(of_base);
}

} // namespace troupe::models
