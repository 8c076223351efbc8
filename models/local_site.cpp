#include "models/local_site.hpp"

#include <span>
#include <utility>

#include "core/text.hpp"
#include "models/families.hpp"
#include "models/visit/local_loop.hpp"

namespace troupe::models {

namespace {

/// Copies what nobody trains to where it is live. @param otherwise null: there
/// must be values of this name
result<void> load_frozen(const local_task& task, std::string_view name,
                         const std::vector<float>* otherwise,
                         std::span<float> live) {
  const auto found = task.frozen.find(std::string{name});
  const bool is_here = found != task.frozen.end() && found->second;
  if (!is_here && !otherwise)
    return fail(errc::invalid_argument,
                "there are no values of a frozen block " + in_quotes(name));
  const std::span<const float> values =
    is_here ? std::span<const float>{*found->second} : *otherwise;
  if (values.size() != live.size())
    return fail(errc::invalid_argument,
                "frozen block " + in_quotes(name) + " has "
                  + std::to_string(values.size())
                  + " values where the common model here has "
                  + std::to_string(live.size()));
  std::ranges::copy(values, live.begin());
  return {};
}

std::uint64_t steps_before(const client_state* state) {
  if (state == nullptr)
    return 0;
  const auto found = state->counters.find(own_steps_counter);
  return found == state->counters.end() ? 0 : found->second;
}

} // namespace

result<std::unique_ptr<embedder>> embedder_of(const local_task& task) {
  if (!task.make_common)
    return std::unique_ptr<embedder>{};
  auto model = task.make_common();
  if (!model)
    return tl::unexpected{std::move(model.error())};
  auto& x = **model;
  if (x.embeddings() == nullptr)
    return fail(errc::invalid_config,
                "method '" + task.method.name
                  + "' looks at what goes into the last layer of its common "
                    "model, and this kind has none; a network of the "
                    "catalogue, or a script that exports 'embed', would do");
  x.begin();
  const auto fresh = x.initial_buffers();
  return load_frozen(task, common_family, nullptr, x.parameters())
    .and_then([&] {
      return load_frozen(task, common_buffers_family, &fresh, x.buffers());
    })
    .map([&] {
      return std::make_unique<embedder>(
        std::move(*model),
        task.embedded ? task.embedded : std::make_shared<embedding_table>());
    });
}

local_problem local_site::problem(objective& model, double progress,
                                  std::span<const std::uint32_t> rows,
                                  double weight,
                                  const client_state* state) const {
  local_problem on{
    .model = model,
    .arithmetic = *arithmetic_,
    .method = task_->method,
    .blocks = task_->blocks,
    .how = task_->how,
    .rate = task_->how.learning_rate
            * policies::rate_factor(task_->how.schedule, progress),
    .rows = rows,
    .weight = weight,
    .adapters = task_->adapters ? &*task_->adapters : nullptr,
    .groups = task_->groups,
    .own_adapters = task_->own_adapters ? &*task_->own_adapters : nullptr,
    .frozen = &task_->frozen,
    .clients = &task_->clients,
    .truths = task_->truths,
    .common = common_.get(),
    .steps_before = steps_before(state),
    .inside = task_->inside ? &*task_->inside : nullptr,
    .experts = task_->experts,
    .first_seed = task_->first_seed};
  on.rate = rate_at(on, 0);
  return on;
}

} // namespace troupe::models
