#include "models/token_routes.hpp"

#include <optional>
#include <utility>

#include "core/assert.hpp"
#include "models/families.hpp"
#include "models/inner_adapters.hpp"
#include "models/inner_setup.hpp"
#include "models/visit/visit.hpp"

namespace troupe::models {

namespace {

/// Makes live what the client would use.
result<void> settle(const visit_input& own, const local_problem& on,
                    const local_site& at) {
  const auto maker = at.of_role(own.visit.client, &local_method::home);
  TROUPE_ASSERT(maker);
  on.model.begin(); // What is found does not depend on the client before.
  return look(own, on, maker).map([](done) {});
}

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
  const auto& task = at.task();
  TROUPE_ASSERT(routes_tokens(task) && model.inside() != nullptr);
  std::map<client_id, token_routes> all;
  for (std::size_t k = 0; k < task.clients.test.size(); ++k) {
    const auto& rows = task.clients.test[k];
    if (rows.empty())
      continue;
    const client_id client{k + 1};
    const auto own = at_home(client, x);
    const auto on =
      at.problem(model, 1, at.rows_of(client), 1, own.state.get());
    auto found =
      settle(own, on, at).and_then([&] { return routes_of_live(model, rows); });
    if (!found)
      return tl::unexpected{std::move(found.error())};
    if (!*found)
      continue;
    (*found)->experts = experts_of(on, client);
    (*found)->steps = steps_of_experts(own.state.get());
    all.emplace(client, std::move(**found));
  }
  return all;
}

} // namespace troupe::models
