#include "models/homes.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "core/assert.hpp"
#include "models/families.hpp"
#include "models/visit/visit.hpp"

namespace troupe::models {

namespace {

const value_view* version_of(const evaluation_input& x, const layout& blocks,
                             std::string_view name) {
  // Of several, the first: `enter` finds the client's own.
  const auto family = blocks.family(name);
  for (const auto& y : x.versions)
    if (!family.empty() && y.block == family.front())
      return &*y.values;
  return nullptr;
}

/// The model as it is merged, or as it always was.
const value_view* model_of(const evaluation_input& x, const local_task& task) {
  if (const auto* found = version_of(x, task.blocks, model_family))
    return found;
  const auto kept = task.frozen.find(std::string{model_family});
  return kept == task.frozen.end() ? nullptr : &*kept->second;
}

} // namespace

local_problem problem_at_home(const visit_input& own, const local_site& at,
                              objective& model) {
  return at.problem(model, 1, at.rows_of(own.visit.client), 1, own.state.get());
}

homes::homes(const evaluation_input& x, const local_site& at, objective& model)
  : x_(x),
    at_(at),
    model_(model),
    parameters_(model.inside() == nullptr ? model_of(x, at.task()) : nullptr),
    buffers_(version_of(x, at.task().blocks, buffers_family)),
    fresh_buffers_(model.initial_buffers()) {
  // nop
}

bool homes::has_model(client_id x) const {
  return parameters_ != nullptr
         || at_.of_role(x, &local_method::home) != nullptr;
}

bool homes::has_models() const {
  return parameters_ != nullptr || !at_.of_roles(&local_method::home).empty();
}

result<visit_input> homes::enter(client_id client) {
  TROUPE_ASSERT(has_model(client));
  auto own = at_home(client, x_);
  load(own.state.get());
  // Where clients make a model of their own of what is shared, it takes the
  // place of the live one.
  if (const auto maker = at_.of_role(client, &local_method::home)) {
    auto made = look(own, problem_at_home(own, at_, model_), maker);
    if (!made)
      return tl::unexpected{std::move(made.error())};
  }
  return own;
}

void homes::load(const client_state* state) {
  const auto kept = [&](std::string_view name, floats otherwise) {
    if (state == nullptr)
      return otherwise;
    const auto found = state->blocks.find(std::string{name});
    return found == state->blocks.end() ? otherwise : found->second.own_view();
  };
  const auto shared = [](const value_view* x, floats otherwise) {
    return x ? floats{*x} : otherwise;
  };
  auto parameters = kept(own_model_family, {});
  const auto buffers =
    parameters.empty() ? kept(buffers_family, shared(buffers_, fresh_buffers_))
                       : kept(own_buffers_family, fresh_buffers_);
  if (parameters.empty())
    parameters = shared(parameters_, {});
  TROUPE_ASSERT(parameters.empty()
                || parameters.size() == model_.parameters().size());
  TROUPE_ASSERT(buffers.size() == model_.buffers().size());
  model_.begin(); // What is found does not depend on the visit before.
  std::ranges::copy(parameters, model_.parameters().begin());
  std::ranges::copy(buffers, model_.buffers().begin());
}

result<void>
for_each_home(const evaluation_input& x, const local_site& at, objective& model,
              const std::function<result<void>(const client_at_home&)>& then) {
  TROUPE_ASSERT(at.of_roles(&local_method::score).empty());
  homes all{x, at, model};
  const auto& tests = at.task().clients.test;
  for (std::size_t k = 0; k < tests.size(); ++k) {
    const client_id client{k + 1};
    if (tests[k].empty() || !all.has_model(client))
      continue;
    const auto own = all.enter(client);
    if (!own)
      return tl::unexpected{own.error()};
    const auto on = problem_at_home(*own, at, model);
    if (auto ok = then({.own = *own, .on = on, .rows = tests[k]}); !ok)
      return ok;
  }
  return {};
}

} // namespace troupe::models
