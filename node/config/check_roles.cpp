#include <algorithm>
#include <string>

#include "core/text.hpp"
#include "node/config/checks.hpp"

namespace troupe::node {

namespace {

/// Its experts have buffers of their own, which go where they go.
bool has_buffers_of_experts(const recipe& method) {
  return std::ranges::any_of(method.blocks, [](const block_spec& x) {
    return x.where == scope::expert && x.name.ends_with(".buffers");
  });
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
  if (method && x.model.buffers != model_options::buffer_rule::average
      && has_buffers_of_experts(*method))
    refuse("model.buffers", "'model.buffers' must be \"average\" with method "
                              + in_quotes(x.method)
                              + ", whose experts have buffers of their own");
}

} // namespace troupe::node
