// Optimisers of a common adapter and of what is learned beside it, and what of
// that stays with the client.

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/families.hpp"
#include "models/methods/common_adapter.hpp"

namespace troupe::models {

namespace {

using floats = std::span<const float>;

/// Whether its moments are of no visit but this.
bool begins_anew(const visit& v) {
  return v.option("moments") != 0;
}

optimiser optimiser_of(const visit& v, std::string_view family,
                       const adapter_plan& plan) {
  return {v.on, plan.size(), begins_anew(v) ? nullptr : v.in.state.get(),
          std::string{family}};
}

result<void> begin_attention(const visit& v, std::vector<learned_beside>& to) {
  const auto* plan = attention_plan(v.on);
  if (plan == nullptr)
    return {};
  return v.base(attention_family, plan->size()).map([&](const base_block& x) {
    to.push_back({.plan = plan,
                  .kept_as = left_of(attention_family),
                  .values = brought_here(x.values),
                  .by = optimiser_of(v, attention_family, *plan)});
  });
}

result<void> begin_own_head(visit& v, std::vector<learned_beside>& to) {
  const auto* plan = own_plan(v.on);
  if (plan == nullptr)
    return {};
  count_lost(v);
  const factors fresh(plan->size());
  return kept_or(v.in.state.get(), own_adapter_family, fresh)
    .map([&](floats kept) {
      to.push_back({.plan = plan,
                    .kept_as = std::string{own_adapter_family},
                    .values = {kept.begin(), kept.end()},
                    .by = optimiser_of(v, own_adapter_family, *plan)});
    });
}

} // namespace

optimiser optimiser_of_common(const visit& v) {
  return optimiser_of(v, adapter_family, *common_plan(v.on));
}

result<std::vector<learned_beside>> beside_common(visit& v) {
  std::vector<learned_beside> all;
  return begin_attention(v, all)
    .and_then([&] { return begin_own_head(v, all); })
    .map([&] { return std::move(all); });
}

result<void> offer_attention(visit& v) {
  const auto* plan = attention_plan(v.on);
  if (plan == nullptr)
    return {};
  return v.base(attention_family, plan->size())
    .and_then([&](const base_block& base) {
      const auto& now = v.out.next.blocks.at(left_of(attention_family));
      return v.offer(base, now.own_view());
    });
}

void keep_of_common(const optimiser& by, visit& v) {
  by.keep(v.out.next);
  if (begins_anew(v))
    v.out.next.moments.clear();
}

} // namespace troupe::models
