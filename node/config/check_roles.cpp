#include <algorithm>
#include <string>

#include "core/text.hpp"
#include "node/config/checks.hpp"
#include "policies/catalogue.hpp"

namespace troupe::node {

namespace {

/// Its experts have buffers of their own, which go where they go.
bool has_buffers_of_experts(const recipe& method) {
  return std::ranges::any_of(method.blocks, [](const block_spec& x) {
    return x.where == scope::expert && x.name.ends_with(".buffers");
  });
}

/// The role whose quota takes the last place of a cohort, so that clients of
/// later ones would never be invited; null if there is none, or nobody else.
const role* takes_all_places(const recipe& method, const client_options& c) {
  if (c.held_out >= c.clients)
    return nullptr; // Which is refused elsewhere.
  std::uint64_t taken = 0;
  std::uint64_t members = 0;
  for (const auto& x : method.roles) {
    members += x.members;
    taken += x.quota;
    const bool is_last = &x == &method.roles.back();
    if (!is_last && taken >= c.clients_per_round && members < c.invitable())
      return &x;
  }
  return nullptr;
}

} // namespace

void check_roles(const experiment& x, const entries& said,
                 std::string_view origin, const method_list& methods,
                 problems& wrong) {
  const auto refuse = [&](const std::string& path, const std::string& what) {
    const auto at = said.find(path);
    wrong.add(at == said.end() ? origin : std::string_view{at->second.where},
              what);
  };
  const auto& c = x.clients;
  const auto number = [](std::uint32_t n) { return std::to_string(n); };
  if (c.often > 0 && c.held_out < c.clients && c.often >= c.invitable())
    refuse("clients.often", "'often' leaves nobody else: it must be below the "
                              + number(c.invitable())
                              + " clients that can be invited, found "
                              + number(c.often));
  const std::string quota = said.contains("clients.often_per_round")
                              ? "clients.often_per_round"
                              : "clients.often";
  if (c.often > 0 && c.often_per_round > c.often)
    refuse(quota, "'often_per_round' must be at most 'often', "
                    + number(c.often) + ", found " + number(c.often_per_round));
  else if (c.often > 0 && c.often_per_round >= c.clients_per_round)
    refuse(quota, "'often_per_round' leaves no place for others: it must be "
                  "below 'clients_per_round', "
                    + number(c.clients_per_round) + ", found "
                    + number(c.often_per_round));
  const auto* method = methods.find(x.method);
  if (!method)
    return;
  // What options cannot be together is said elsewhere.
  if (const auto settled = policies::with_options(*method, x.training.method))
    if (const auto* own = takes_all_places(*settled, c);
        own && !own->quota_option.empty())
      refuse("options." + own->quota_option,
             in_quotes(own->quota_option)
               + " leaves no place for others: it must be below "
                 "'clients_per_round', "
               + number(c.clients_per_round) + ", found " + number(own->quota));
  if (x.model.buffers != model_options::buffer_rule::average
      && has_buffers_of_experts(*method))
    refuse("model.buffers", "'model.buffers' must be \"average\" with method "
                              + in_quotes(x.method)
                              + ", whose experts have buffers of their own");
}

} // namespace troupe::node
