#include "models/token_routes.hpp"

#include <optional>
#include <utility>

#include "core/assert.hpp"
#include "models/families.hpp"
#include "models/homes.hpp"
#include "models/inner_adapters.hpp"
#include "models/inner_setup.hpp"

namespace troupe::models {

namespace {

/// None where one expert alone is live, which nobody chooses.
result<std::optional<token_routes>>
routes_of_live(objective& model, std::span<const std::uint32_t> rows) {
  auto& inside = *model.inside();
  if (inside.groups().empty() || inside.groups().back().name != router_family)
    return std::optional<token_routes>{};
  inside.take_routing(); // Of whatever was scored before.
  if (const auto scored = model.evaluate(split::test, rows); !scored)
    return tl::unexpected{scored.error()};
  auto seen = inside.take_routing();
  auto window = inside.routes(split::test, rows.front());
  if (!window)
    return tl::unexpected{std::move(window.error())};
  return std::optional{
    token_routes{.mean_of_first = std::move(seen.mean_of_first),
                 .first_places = std::move(seen.first_places),
                 .window = std::move(*window)}};
}

} // namespace

bool routes_tokens(const local_task& task) noexcept {
  return task.inside && task.inside->feed_forward && !task.inside->routing.even;
}

result<std::map<client_id, token_routes>>
routes_at_home(const evaluation_input& x, const local_site& at,
               objective& model) {
  TROUPE_ASSERT(routes_tokens(at.task()) && model.inside() != nullptr);
  std::map<client_id, token_routes> all;
  const auto look = [&](const client_at_home& home) {
    return routes_of_live(model, home.rows)
      .map([&](std::optional<token_routes> found) {
        if (!found)
          return;
        const auto client = home.own.visit.client;
        found->experts = experts_of(home.on, client);
        found->steps = steps_of_experts(home.own.state.get());
        all.emplace(client, std::move(*found));
      });
  };
  return for_each_home(x, at, model, look).map([&] { return std::move(all); });
}

} // namespace troupe::models
