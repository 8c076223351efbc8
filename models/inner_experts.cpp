// How many experts a client keeps, has trained, and has memory for.

#include <algorithm>
#include <cmath>
#include <string_view>

#include "models/families.hpp"
#include "models/inner_setup.hpp"

namespace troupe::models {

std::uint64_t steps_of_experts(const client_state* state) noexcept {
  if (state == nullptr)
    return 0;
  // As their optimiser keeps it.
  const auto found = state->counters.find("experts.steps");
  return found == state->counters.end() ? 0 : found->second;
}

std::uint32_t experts_kept(const client_state& x) noexcept {
  constexpr std::string_view left = "left_"; // Of what all share.
  return static_cast<std::uint32_t>(
    std::ranges::count_if(x.blocks, [&](const auto& block) {
      std::string_view name = block.first;
      if (name.starts_with(left))
        name.remove_prefix(left.size());
      const auto family = name.substr(0, name.find('.'));
      return family == generalist_family || family == specialist_family;
    }));
}

std::uint32_t experts_within(const inner_plans& plans, double bytes,
                             std::size_t buffers, std::uint32_t most) noexcept {
  if (!plans.feed_forward)
    return 0;
  const auto bytes_of = [&](const adapter_plan& x) {
    return static_cast<double>(x.size() * buffers * sizeof(float));
  };
  const auto room = bytes - (plans.attention ? bytes_of(*plans.attention) : 0);
  const auto fit = std::floor(room / bytes_of(*plans.feed_forward));
  return static_cast<std::uint32_t>(
    std::clamp(fit, 0.0, static_cast<double>(most)));
}

} // namespace troupe::models
