#include "models/strangers.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/assert.hpp"
#include "models/embedder.hpp"
#include "models/families.hpp"
#include "models/visit/visit.hpp"

namespace troupe::models {

namespace {

/// Rows that are answered at a time, where there are many.
constexpr std::size_t rows_max = 1000;

result<void> check_says_classes(const visit& v) {
  const auto* outputs = v.on.model.outputs();
  if (outputs != nullptr && outputs->kind() == output_kind::logits)
    return {};
  return fail(errc::invalid_config,
              "this kind of model says no classes; a network or a script "
              "would do");
}

/// By the model that all share.
task<answers> answer_shared(visit& v, visit::row_span rows) {
  co_await check_says_classes(v);
  co_await v.take();
  const auto size = v.on.model.outputs()->size();
  answers out;
  while (!rows.empty()) {
    const auto some = rows.first(std::min(rows.size(), rows_max));
    rows = rows.subspan(some.size());
    std::vector<float> said(some.size() * size);
    co_await v.say(split::train, some, said);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto own = std::span{said}.subspan(i * size, size);
      out.classes.push_back(std::ranges::max_element(own) - own.begin());
    }
  }
  co_return out;
}

/// Empty where there are none.
std::span<const float> frozen_of(const local_task& task,
                                 std::string_view name) {
  const auto found = task.frozen.find(std::string{name});
  return found == task.frozen.end() ? std::span<const float>{}
                                    : std::span<const float>{*found->second};
}

/// Null where the method has no common model.
result<std::unique_ptr<embedder>> common_of(const local_task& task) {
  if (!task.make_common)
    return std::unique_ptr<embedder>{};
  auto model = task.make_common();
  if (!model)
    return tl::unexpected{model.error()};
  auto& common = **model;
  if (common.embeddings() == nullptr)
    return fail(errc::invalid_config,
                "method '" + task.method.name
                  + "' looks at what goes into the last layer of its common "
                    "model, and this kind has none; a network of the "
                    "catalogue, or a script that exports 'embed', would do");
  common.begin();
  const auto parameters = frozen_of(task, common_family);
  const auto kept = frozen_of(task, common_buffers_family);
  const auto fresh = common.initial_buffers();
  const auto buffers = kept.empty() ? std::span<const float>{fresh} : kept;
  TROUPE_ASSERT(parameters.size() == common.parameters().size());
  TROUPE_ASSERT(buffers.size() == common.buffers().size());
  std::copy(parameters.begin(), parameters.end(), common.parameters().begin());
  std::copy(buffers.begin(), buffers.end(), common.buffers().begin());
  auto table =
    task.embedded ? task.embedded : std::make_shared<embedding_table>();
  return std::make_unique<embedder>(std::move(*model), std::move(table));
}

} // namespace

client_id stranger_of(const recipe& method) {
  client_id who{1};
  for (const auto& role : method.roles)
    who.value += role.members;
  return who;
}

result<void> check_serves_strangers(const local_task& task) {
  const auto& method = task.method;
  const auto refuse = [&](const std::string& what) {
    return fail(errc::invalid_config, "method '" + method.name + "' " + what);
  };
  const auto role = policies::role_of(stranger_of(method), method.roles);
  const bool can_answer =
    role
    && part_of(task.table, method.roles[*role].procedure.value,
               &local_method::answer);
  // What is there before anybody trains may answer all the same.
  if (!method.offers && !can_answer)
    return refuse("merges nothing, so there is nothing to serve a stranger "
                  "with; one that does would do");
  if (method.personal)
    return refuse("gives each client a part of its own, which a stranger has "
                  "not; one without personal parts would do");
  if (!can_answer && task.blocks.find(model_family) == nullptr)
    return refuse("has several models, and nothing says which of them answers "
                  "a stranger; one with a gate would do");
  return {};
}

stranger::stranger(std::unique_ptr<local_site> at,
                   std::unique_ptr<objective> model)
  : at_(std::move(at)),
    model_(std::move(model)) {
  // nop
}

result<stranger> stranger::make(std::shared_ptr<const local_task> task,
                                std::unique_ptr<objective> model,
                                std::unique_ptr<kernels::backend> arithmetic) {
  if (const auto ok = check_serves_strangers(*task); !ok)
    return tl::unexpected{ok.error()};
  auto common = common_of(*task);
  if (!common)
    return tl::unexpected{common.error()};
  return stranger{std::make_unique<local_site>(
                    std::move(task), std::move(arithmetic), std::move(*common)),
                  std::move(model)};
}

local_problem stranger::problem_of(const visit_input& x) {
  return at_->problem(*model_, 1, at_->rows_of(x.visit.client), 1);
}

result<choice> stranger::choose(const visit_input& x) {
  const auto& task = at_->task();
  TROUPE_ASSERT(x.leg < task.method.legs.size());
  const auto chooser = part_of(task.table, task.method.legs[x.leg].choice.value,
                               &local_method::choose);
  if (!chooser)
    return choice{};
  return look(x, problem_of(x), chooser);
}

result<answers> stranger::answer(const visit_input& x) {
  const auto rows = at_->rows_of(x.visit.client);
  const auto own = at_->of_role(x.visit.client, &local_method::answer);
  return look(x, problem_of(x), [&](visit& v) {
    return own ? own(v, rows) : answer_shared(v, rows);
  });
}

} // namespace troupe::models
