#include "node/commands/prediction.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/random.hpp"
#include "kernels/backend.hpp"
#include "models/embedder.hpp"
#include "models/families.hpp"
#include "models/strangers.hpp"
#include "policies/invitations.hpp"

namespace troupe::node {

namespace {

/// The run's task, in which a stranger alone has rows: all of `data`.
std::shared_ptr<const models::local_task>
task_of_stranger(const finished_run& run,
                 const std::shared_ptr<const models::dataset>& data,
                 const model_maker& make_model) {
  auto task = std::make_shared<models::local_task>(*run.work.task);
  const auto who = models::stranger_of(task->method);
  std::vector<std::uint32_t> rows(data->train.size);
  std::iota(rows.begin(), rows.end(), 0u);
  task->clients = {};
  task->clients.train.resize(who.value);
  task->clients.test.resize(who.value);
  task->clients.train.back() = std::move(rows);
  task->clients.held_out = 1;
  task->test_size = 0;
  task->weights.clear();
  task->truths.clear();
  if (task->make_common)
    task->make_common = [what = run.x.common_model.value_or(run.x.model), data,
                         make_model] { return make_model(what, data); };
  task->embedded = std::make_shared<models::embedding_table>();
  return task;
}

/// Reads what a leg brings, unless it is here.
result<void> fetch(finished_run& run, const leg& from,
                   models::visit_input& to) {
  for (const auto& wanted : from.fetch)
    for (const auto id : run.work.blocks->family(wanted.family)) {
      const bool is_chosen =
        !wanted.chosen || to.chosen.empty()
        || std::ranges::find(to.chosen, id) != to.chosen.end();
      if (!is_chosen || to.find(id) != nullptr)
        continue;
      auto block = read_block(run, id);
      if (!block)
        return tl::make_unexpected(block.error());
      const auto place = std::ranges::upper_bound(
        to.fetched, id, {}, &models::fetched_block::block);
      to.fetched.insert(place, std::move(*block));
    }
  return {};
}

std::vector<std::uint32_t> experts_in(const std::vector<block_id>& chosen,
                                      const models::layout& blocks) {
  std::vector<std::uint32_t> out;
  for (const auto id : chosen)
    if (const auto* block = blocks.find(id);
        block && block->family == models::model_family)
      out.push_back(block->instance);
  return out;
}

} // namespace

result<void> check_predicts(const finished_run& run) {
  const auto refuse = [](const std::string& what) {
    return fail(errc::invalid_config, what);
  };
  if (run.x.data.has_own_model())
    return refuse("the run learned from a problem that has no examples, so no "
                  "inputs can be like them; one of images, tables or "
                  "synthetic examples would do");
  if (run.x.data.is_language() && !run.x.data.foretells_tokens())
    return refuse("the run learned what is known of texts, and nothing answers "
                  "texts yet; its summary.json says how its models do on those "
                  "that it has, and troupe report "
                  + run.folder.string() + " shows it");
  if (run.x.data.is_language())
    return refuse("the run learned from texts, and no table or image is like "
                  "them; troupe eval --model FOLDER --text FILE would do");
  if (run.work.shape.inputs.empty())
    return refuse("what an example of the run means depends on whose it is, "
                  "and a stranger is nobody; a run without groups of clients "
                  "would do");
  return models::check_serves_strangers(*run.work.task);
}

result<prediction> predict(finished_run& run,
                           std::shared_ptr<const models::dataset> data,
                           const model_maker& make_model) {
  const auto task = task_of_stranger(run, data, make_model);
  auto model = make_model(run.x.model, data);
  if (!model)
    return tl::make_unexpected(model.error());
  auto arithmetic = kernels::make_backend({});
  if (!arithmetic)
    return tl::make_unexpected(arithmetic.error());
  auto who =
    models::stranger::make(task, std::move(*model), std::move(*arithmetic));
  if (!who)
    return tl::make_unexpected(who.error());
  const auto& method = task->method;
  const auto client = models::stranger_of(method);
  models::visit_input visit{
    .visit = {client, {1}},
    .seed = derive_seed(run.x.seed, "stranger"),
    .progress = 1,
    .role = policies::role_of(client, method.roles).value_or(0),
    .fetched = {},
    .chosen = {},
    .state = nullptr};
  for (const auto& step : method.legs) {
    // Of what nobody trains there is no result, and nothing of it answers.
    if (auto ok = method.offers ? fetch(run, step, visit) : result<void>{}; !ok)
      return tl::make_unexpected(ok.error());
    auto choice = who->choose(visit);
    if (!choice)
      return tl::make_unexpected(choice.error());
    if (!step.choice.value.empty())
      visit.chosen = std::move(choice->chosen);
    ++visit.leg;
  }
  auto said = who->answer(visit);
  if (!said)
    return tl::make_unexpected(said.error());
  return prediction{.said = std::move(*said),
                    .experts = experts_in(visit.chosen, *run.work.blocks),
                    .bytes_read = run.values.bytes_read()};
}

} // namespace troupe::node
