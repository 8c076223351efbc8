// How many experts a client is given, keeps, has trained, and has memory for.

#include <algorithm>
#include <cmath>
#include <string_view>

#include "models/families.hpp"
#include "models/inner_setup.hpp"

namespace troupe::models {

namespace {

std::uint32_t said_of(std::span<const std::uint32_t> all,
                      client_id client) noexcept {
  if (all.empty())
    return experts_otherwise;
  return all[(client.value - 1) % all.size()];
}

} // namespace

std::uint32_t experts_max(const recipe& method) noexcept {
  const auto own = count_of(method, specialist_family);
  return own == 0 ? 0 : own + count_of(method, generalist_family);
}

bool counts_experts(const recipe& method) noexcept {
  return experts_max(method) > 0
         || find_option(method, "rank_per_expert") != nullptr;
}

std::uint32_t experts_said(const local_problem& on, client_id client) noexcept {
  return said_of(on.experts, client);
}

std::uint32_t experts_of(const local_problem& on, client_id client) noexcept {
  return experts_of(on.method, on.experts, client);
}

std::uint32_t experts_of(const recipe& method,
                         std::span<const std::uint32_t> said,
                         client_id client) noexcept {
  const auto shared =
    std::max(count_of(method, generalist_family), std::uint32_t{1});
  if (client.value == 0 || count_of(method, specialist_family) == 0)
    return shared;
  return said_of(said, client);
}

std::uint64_t steps_of_experts(const client_state* state) noexcept {
  if (state == nullptr)
    return 0;
  const auto found = state->counters.find(steps_counter_of(experts_optimiser));
  return found == state->counters.end() ? 0 : found->second;
}

std::uint32_t experts_kept(const client_state& x) noexcept {
  return static_cast<std::uint32_t>(
    std::ranges::count_if(x.blocks, [&](const auto& block) {
      std::string_view name = block.first;
      if (name.starts_with(left_prefix))
        name.remove_prefix(left_prefix.size());
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
