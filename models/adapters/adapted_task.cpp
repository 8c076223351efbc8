#include "models/adapters/adapted_task.hpp"

#include "models/families.hpp"

namespace troupe::models {

result<std::optional<adapter_plan>>
own_adapters_for(const recipe& method, const objective& model,
                 const options& said, const std::vector<std::string>& layers,
                 const key_places& places) {
  const auto own = said.find("own_rank");
  if (own == said.end())
    return std::optional<adapter_plan>{};
  auto changed = said;
  changed["rank"] = own->second;
  const auto common =
    adapters_for(method, model.parameter_list(), said, layers);
  auto plan = adapters_for(method, model.parameter_list(), changed, layers);
  if (!plan || !common)
    return plan;
  if (auto ok = check_ranks(method, **plan,
                            {.all = "options.own_rank", .places = places});
      !ok)
    return tl::unexpected{ok.error()};
  count_as(**common, **plan);
  return plan;
}

std::map<std::string, shared_values>
frozen_values(objective& model, const recipe& method, std::uint64_t seed) {
  std::map<std::string, shared_values> result;
  // What factors stand inside of lies elsewhere, and all share it.
  if (model.inside() != nullptr)
    return result;
  for (const auto& x : method.blocks)
    if (x.where == scope::frozen && x.name == model_family)
      result[x.name] = share(model.initial_parameters(seed));
  return result;
}

} // namespace troupe::models
