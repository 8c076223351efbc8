#include "models/language/costs.hpp"

#include <algorithm>
#include <optional>

#include "core/assert.hpp"
#include "models/families.hpp"
#include "models/language/router_tensors.hpp"
#include "models/objective.hpp"

namespace troupe::models {

namespace {

bool is_shared(const recipe& method, std::string_view family) {
  return std::ranges::any_of(method.blocks, [&](const block_spec& x) {
    return x.name == family && x.where == scope::shared;
  });
}

std::uint64_t size_of_plan(const std::optional<adapter_plan>& x) noexcept {
  return x ? x->size() : 0;
}

std::uint64_t head_in(const std::optional<adapter_plan>& x) noexcept {
  std::uint64_t size = 0;
  if (x)
    for (const auto& part : x->vectors)
      size += part.size;
  return size;
}

} // namespace

double routed_costs::router_share() const noexcept {
  return static_cast<double>(router) / static_cast<double>(averaged);
}

std::uint64_t
routed_costs::router_operations(std::uint64_t tokens) const noexcept {
  return 2 * router * tokens;
}

std::uint64_t routed_costs::all_sent() const noexcept {
  return sent + (shares_attention ? attention : 0);
}

std::uint64_t routed_costs::all_averaged() const noexcept {
  return averaged + attention;
}

routed_costs routed_costs_of(const language_spec& of, const inner_plans& plans,
                             const recipe& method, std::uint32_t experts) {
  TROUPE_ASSERT(plans.feed_forward && !plans.routing.even && experts > 0);
  routed_costs x{.experts = experts,
                 .expert = plans.feed_forward->size(),
                 .attention = size_of_plan(plans.attention)};
  auto how = plans.routing;
  how.experts = experts;
  x.router = size_of(router_tensors(of, how));
  x.averaged = experts * x.expert;
  if (!method.offers)
    return x;
  x.sent = std::min(experts, plans.generalists) * x.expert;
  x.shares_attention = is_shared(method, attention_family);
  return x;
}

adapter_costs adapter_costs_of(const inner_plans& plans) noexcept {
  const auto head = head_in(plans.adapter);
  return {.common =
            size_of_plan(plans.adapter) - head + size_of_plan(plans.attention),
          .own = size_of_plan(plans.own_adapter) - head_in(plans.own_adapter),
          .head = head + head_in(plans.own_adapter)};
}

} // namespace troupe::models
