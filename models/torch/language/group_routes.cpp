// Experts among attached groups, and the routers that find them.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/assert.hpp"
#include "core/text.hpp"
#include "models/families.hpp"
#include "models/language/names.hpp"
#include "models/language/router_tensors.hpp"
#include "models/torch/group_buffers.hpp"

namespace troupe::models {

namespace {

result<void> refuse(std::string what) {
  return fail(errc::invalid_config, std::move(what));
}

inner_group make_routers(const language_spec& spec, const routing_options& how,
                         std::size_t model_size) {
  inner_group x{.name = std::string{router_family}, .plan = {}};
  x.plan.model_size = model_size;
  x.plan.tensors = router_tensors(spec, how);
  return x;
}

result<void> check_options(const routing_options& how) {
  if (how.experts == 0)
    return refuse("routed blocks of 0 experts were asked for; 1 or more would "
                  "do");
  if (how.top == 0)
    return refuse("each token would go to 0 experts; 'top' = 2 would do");
  if (!(how.balance >= 0) || std::isinf(how.balance))
    return refuse("the balance of loads counts " + std::to_string(how.balance)
                  + " times; 0 or more would do");
  if (!(how.favoured >= 0 && how.favoured < 1))
    return refuse("the generalist's part of the slots is "
                  + std::to_string(how.favoured)
                  + "; 0 or more and less than 1 would do");
  return {};
}

} // namespace

result<void> group_buffers::check_expert(const inner_group& x,
                                         const routing_options& how) const {
  if (x.name == router_family)
    return refuse(in_quotes(x.name)
                  + " has the name of what finds experts; "
                    "another would do");
  if (!x.expert)
    return {};
  if (*x.expert >= how.experts)
    return refuse(in_quotes(x.name) + " is of expert "
                  + std::to_string(*x.expert) + ", and the last is expert "
                  + std::to_string(how.experts - 1) + "; "
                  + std::to_string(*x.expert + 1) + " experts would do");
  for (const auto& m : x.plan.matrices) {
    const auto& name = base_->tensors()[place_at_.at(m.at)].name;
    if (!is_of_feed_forward(*spec_, name))
      return refuse(in_quotes(x.name) + " is of expert "
                    + std::to_string(*x.expert) + " and adapts "
                    + in_quotes(name)
                    + ", where all experts are one; layers of feed-forward "
                      "blocks alone would do");
  }
  if (!x.plan.vectors.empty())
    return refuse(in_quotes(x.name) + " is of expert "
                  + std::to_string(*x.expert)
                  + " and has a head, which all experts share; a group of "
                    "everybody's would do");
  return {};
}

result<void> group_buffers::check_routes(const routing_options& how) const {
  if (auto ok = check_options(how); !ok)
    return ok;
  std::vector<bool> has_group(how.experts, false);
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (is_router(i))
      continue;
    const auto& x = groups_[i];
    if (auto ok = check_expert(x, how); !ok)
      return ok;
    if (x.expert)
      has_group[*x.expert] = true;
  }
  const auto lacking = std::find(has_group.begin(), has_group.end(), false);
  if (how.experts > 1 && lacking != has_group.end())
    return refuse("no group is of expert "
                  + std::to_string(lacking - has_group.begin()) + " of "
                  + std::to_string(how.experts) + "; one of each would do");
  return {};
}

result<void> group_buffers::route(const routing_options& how) {
  if (spec_ == nullptr)
    return refuse("experts stand in feed-forward blocks of a language model, "
                  "and this model has none; a method without experts would do");
  if (auto ok = check_routes(how); !ok)
    return ok;
  auto groups = groups_;
  if (has_routers_)
    groups.pop_back();
  const bool routers = how.experts > 1 && !how.even;
  if (routers)
    groups.push_back(make_routers(*spec_, how, base_size_));
  lay_out(std::move(groups), routers);
  if (how.experts == 1)
    return {};
  std::vector<at::Tensor> by_layer;
  if (routers)
    for (const auto& x : states_.back().leaves)
      by_layer.push_back(x.values);
  parts_.route({*spec_, how, std::move(by_layer)});
  return {};
}

inner_adapters::routing_seen group_buffers::take_routing() {
  auto* const blocks = parts_.blocks();
  return blocks != nullptr ? blocks->take_seen() : routing_seen{};
}

result<std::vector<std::uint32_t>> group_buffers::routes(split part,
                                                         std::uint32_t row) {
  auto* const blocks = parts_.blocks();
  if (blocks == nullptr || !blocks->chooses())
    return fail(errc::unsupported,
                "no router stands inside this model; two experts or more "
                "would do");
  TROUPE_ASSERT(forward_);
  std::vector<std::uint32_t> to;
  blocks->record(&to);
  const auto done = forward_(part, row);
  blocks->record(nullptr);
  if (!done)
    return tl::unexpected{done.error()};
  return to;
}

} // namespace troupe::models
