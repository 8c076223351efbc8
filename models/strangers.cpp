#include "models/strangers.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/assert.hpp"
#include "models/families.hpp"
#include "models/visit/visit.hpp"

namespace troupe::models {

namespace {

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
    const auto some = rows.first(std::min(rows.size(), rows_at_a_time));
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

} // namespace

bool has_own_statistics(const recipe& method) {
  return std::ranges::any_of(method.blocks, [](const block_spec& x) {
    return x.name == buffers_family && x.where == scope::personal;
  });
}

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
  if (has_own_statistics(task->method) && !model->buffers().empty())
    return fail(errc::invalid_config,
                "method '" + task->method.name
                  + "' has buffers = \"local\", and the batch statistics of "
                    "this model stay with each client, so a stranger has none; "
                    "a run with \"average\" would do");
  auto common = embedder_of(*task);
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
