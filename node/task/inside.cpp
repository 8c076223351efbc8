#include "node/task/inside.hpp"

#include <string>
#include <utility>
#include <vector>

#include "core/assert.hpp"
#include "core/text.hpp"
#include "models/families.hpp"
#include "models/inner_adapters.hpp"
#include "models/inner_setup.hpp"
#include "models/shapes.hpp"

namespace troupe::node {

namespace {

result<void> check_procedures(const models::local_task& task) {
  if (models::is_over_base(task.method))
    return {};
  for (const auto& x : task.method.roles)
    if (const auto found = task.table.find(x.procedure.value);
        found == task.table.end() || !found->second.learns_around)
      return fail(errc::invalid_config,
                  "procedure " + in_quotes(x.procedure.value) + " of method "
                    + in_quotes(task.method.name)
                    + " trains the weights of a model, and would find factors "
                      "inside its layers; model.factors = \"composed\" would "
                      "do");
  return {};
}

} // namespace

shared_values base_of(const models::local_task& task) {
  const auto found = task.frozen.find(std::string{models::model_family});
  if (found != task.frozen.end())
    return found->second;
  TROUPE_ASSERT(task.adapters);
  return share(std::vector<float>(task.adapters->model_size));
}

result<void> stand_inside(const inner_maker& make, models::local_task& task) {
  if (auto ok = check_procedures(task); !ok)
    return ok;
  const auto model = make(base_of(task));
  if (!model)
    return tl::make_unexpected(model.error());
  models::inner_plans plans;
  plans.adapter = task.adapters;
  plans.own_adapter = task.own_adapters;
  std::vector<models::inner_group> groups;
  for (const auto* plan : {&plans.adapter, &plans.own_adapter})
    if (*plan)
      groups.push_back(
        {.name = std::string{groups.empty() ? models::adapter_family
                                            : models::own_adapter_family},
         .plan = **plan});
  task.inside = std::move(plans);
  return (*model)->inside()->attach(std::move(groups), nullptr);
}

} // namespace troupe::node
