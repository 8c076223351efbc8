// Which groups of factors a client's model holds.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "models/attached_groups.hpp"
#include "models/families.hpp"
#include "models/inner_setup.hpp"

namespace troupe::models {

namespace {

std::string instance_of(std::string_view family, std::uint32_t count,
                        std::uint32_t i) {
  return std::string{family} + (count > 1 ? "." + std::to_string(i) : "");
}

/// In the order in which their factors lie: experts that are shared, attention,
/// a client's own experts, and then what has no experts.
std::vector<inner_group> groups_for(const local_problem& on,
                                    std::uint32_t experts) {
  const auto& plans = *on.inside;
  std::vector<inner_group> groups;
  const auto add = [&](std::string name, const adapter_plan& plan) {
    groups.push_back({.name = std::move(name), .plan = plan});
  };
  const auto add_expert = [&](std::string name, std::uint32_t number) {
    add(std::move(name), *plans.feed_forward);
    // One alone is what a block without experts has.
    if (experts > 1)
      groups.back().expert = number;
  };
  const auto shared = plans.generalists;
  if (plans.feed_forward)
    for (std::uint32_t j = 0; j < std::min(shared, experts); ++j)
      add_expert(instance_of(generalist_family, shared, j), j);
  if (plans.attention)
    add(std::string{attention_family}, *plans.attention);
  const auto own = count_of(on.method, specialist_family);
  if (plans.feed_forward)
    for (auto j = shared; j < experts; ++j)
      add_expert(instance_of(specialist_family, own, j - shared), j);
  if (plans.adapter)
    add(std::string{adapter_family}, *plans.adapter);
  if (plans.own_adapter)
    add(std::string{own_adapter_family}, *plans.own_adapter);
  return groups;
}

} // namespace

result<void> attach_for(const local_problem& on, std::uint32_t experts) {
  auto* to = on.model.inside();
  if (to == nullptr || on.inside == nullptr)
    return fail(errc::invalid_config,
                "method " + in_quotes(on.method.name)
                  + " learns factors inside the layers of a language model, "
                    "and this model takes none; model.kind = \"language\" "
                    "would do");
  if (on.inside->feed_forward && experts == 0)
    return fail(errc::invalid_config, "a client of method "
                                        + in_quotes(on.method.name)
                                        + " has 0 experts; 1 or more would do");
  auto how = on.inside->routing;
  how.experts = on.inside->feed_forward ? experts : 1;
  const bool has_router = how.experts > 1 && !how.even;
  auto groups = groups_for(on, how.experts);
  if (is_attached(*to, groups, has_router)) {
    set_back(*to);
    return {};
  }
  return to->attach(std::move(groups), &on.arithmetic).and_then([&] {
    return on.inside->feed_forward ? to->route(how) : result<void>{};
  });
}

} // namespace troupe::models
