#include "models/local_trainer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/assert.hpp"
#include "core/limits.hpp"
#include "core/random.hpp"
#include "models/families.hpp"
#include "models/methods/local_loop.hpp"
#include "policies/invitations.hpp"

namespace troupe::models {

namespace {

template <class Map>
std::string names_of(const Map& xs) {
  std::string result;
  for (const auto& [name, unused] : xs)
    result += (result.empty() ? "" : ", ") + name;
  return result.empty() ? "none" : result;
}

result<void> check(const local_task& task) {
  const auto& method = task.method;
  for (const auto& x : method.roles)
    if (!task.table.procedures.contains(x.procedure.value))
      return fail(errc::invalid_config,
                  "recipe '" + method.name + "', role '" + x.name
                    + "': there is no local procedure '" + x.procedure.value
                    + "'; there are " + names_of(task.table.procedures));
  for (const auto& x : method.legs)
    if (!x.choice.value.empty()
        && !task.table.choosers.contains(x.choice.value))
      return fail(errc::invalid_config, "recipe '" + method.name
                                          + "': there is no choice '"
                                          + x.choice.value + "'; there are "
                                          + names_of(task.table.choosers));
  const auto clients = task.clients.train.size();
  if (!task.weights.empty() && task.weights.size() != clients)
    return fail(errc::invalid_config, std::to_string(task.weights.size())
                                        + " weights for "
                                        + std::to_string(clients) + " clients");
  return {};
}

class local_trainer : public trainer {
public:
  local_trainer(std::shared_ptr<const local_task> task,
                std::unique_ptr<objective> model,
                std::unique_ptr<kernels::backend> arithmetic)
    : task_(std::move(task)),
      model_(std::move(model)),
      arithmetic_(std::move(arithmetic)),
      test_rows_(task_->test_size),
      fresh_buffers_(model_->initial_buffers()) {
    std::iota(test_rows_.begin(), test_rows_.end(), 0u);
  }

  result<choice> choose(const visit_input& x) override {
    const auto& legs = task_->method.legs;
    TROUPE_ASSERT(x.leg < legs.size());
    const auto& name = legs[x.leg].choice.value;
    if (name.empty())
      return choice{};
    auto on = problem_of(x);
    if (!on)
      return tl::unexpected{on.error()};
    return task_->table.choosers.at(name)(x, *on);
  }

  result<trained> train(const visit_input& x) override {
    auto on = problem_of(x);
    if (!on)
      return tl::unexpected{on.error()};
    auto out = task_->table.procedures.at(procedure_of(x))(x, *on);
    if (out)
      out->steps *= passes_of(x);
    if (out && task_->how.norm_max > 0)
      if (const auto done = shorten(*out); !done)
        return tl::unexpected{done.error()};
    if (out && task_->attackers.clients.contains(x.visit.client))
      multiply(*out, task_->attackers.scale);
    if (out && !out->parts.empty()
        && !(std::abs(out->loss) <= limits::loss_max))
      return fail(errc::diverged,
                  "the training loss is no number any more, or above 10^12; "
                  "a smaller learning_rate may help");
    return out;
  }

  result<evaluated> evaluate(const evaluation_input& x) override {
    evaluated out;
    const auto* parameters = model_of(x);
    const auto* buffers = version_of(x, buffers_family);
    if (parameters == nullptr && of_roles(task_->table.homes).empty())
      return out;
    // Where there is no whole model, clients make one.
    const auto model = parameters ? floats{*parameters} : floats{};
    if (task_->method.offers && has_model({}, parameters)) {
      load(model, buffers ? std::span{*buffers} : fresh_buffers_);
      const home newcomer{.client = {}, .versions = x.versions};
      const auto done =
        settle(newcomer)
          .and_then([&] {
            return score(newcomer, split::test, test_rows_, out.global);
          })
          .and_then([&] {
            return score(newcomer, split::train, task_->clients.validation,
                         out.validation);
          });
      if (!done)
        return tl::unexpected{done.error()};
    }
    const auto& rows = task_->clients.test;
    const auto& aside = task_->clients.own_validation;
    for (std::size_t k = 0; x.per_client && k < rows.size(); ++k) {
      const client_id client{k + 1};
      const auto watched = k < aside.size() ? std::span{aside[k]}
                                            : std::span<const std::uint32_t>{};
      if ((rows[k].empty() && watched.empty())
          || !has_model(client, parameters))
        continue;
      const auto found = x.states.find(client);
      const auto* state =
        found == x.states.end() ? nullptr : found->second.get();
      load_at_home(state, model,
                   buffers ? std::span{*buffers} : fresh_buffers_);
      const home own{.client = client, .state = state, .versions = x.versions};
      const auto put = [&](split part, std::span<const std::uint32_t> from,
                           std::map<client_id, scores>& to) {
        return from.empty() ? result<void>{}
                            : score(own, part, from, to[client]);
      };
      const auto done =
        settle(own)
          .and_then([&] { return put(split::test, rows[k], out.per_client); })
          .and_then(
            [&] { return put(split::train, watched, out.own_validation); });
      if (!done)
        return tl::unexpected{done.error()};
    }
    summarise(x, out);
    return out;
  }

  std::uint64_t examples(client_id x) const override {
    return knows(x) ? task_->clients.train[x.value - 1].size() : 0;
  }

  std::uint64_t steps(const visit_input& x) const override {
    const auto plan = plan_visit(task_->how, examples(x.visit.client), x);
    return plan.steps * passes_of(x);
  }

private:
  using floats = std::span<const float>;

  bool knows(client_id x) const {
    return x.value >= 1 && x.value <= task_->clients.train.size();
  }

  const std::string& procedure_of(const visit_input& x) const {
    TROUPE_ASSERT(x.role < task_->method.roles.size());
    return task_->method.roles[x.role].procedure.value;
  }

  std::uint64_t passes_of(const visit_input& x) const {
    const auto found = task_->table.passes.find(procedure_of(x));
    return found == task_->table.passes.end() ? 1 : found->second(task_->how);
  }

  result<local_problem> problem_of(const visit_input& x) {
    const auto client = x.visit.client;
    if (!knows(client))
      return fail(errc::invalid_argument,
                  "client " + std::to_string(client.value)
                    + " has no data here; there are clients 1 to "
                    + std::to_string(task_->clients.train.size()));
    const auto& rows = task_->clients.train[client.value - 1];
    const auto weight = task_->weights.empty()
                          ? static_cast<double>(rows.size())
                          : task_->weights[client.value - 1];
    return problem_with(x.progress, rows, weight);
  }

  local_problem problem_with(double progress,
                             std::span<const std::uint32_t> rows,
                             double weight) {
    return {.model = *model_,
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
            .own_adapters =
              task_->own_adapters ? &*task_->own_adapters : nullptr,
            .frozen = &task_->frozen,
            .clients = &task_->clients,
            .truths = task_->truths};
  }

  /// Where clients make a model of their own of what is shared, it takes the
  /// place of the live one.
  result<void> settle(const home& x) {
    if (const auto maker = of_role(x.client, task_->table.homes)) {
      auto on = problem_at(x);
      return maker(x, on);
    }
    return {};
  }

  /// A shared one, or what its role makes of what is shared.
  bool has_model(client_id x, const std::vector<float>* shared_one) const {
    return shared_one != nullptr || of_role(x, task_->table.homes) != nullptr;
  }

  /// What a client's role has in a table; null: nothing. Nobody has the role of
  /// those who are no members of any.
  template <class Table>
  typename Table::mapped_type of_role(client_id x, const Table& table) const {
    const auto role = policies::role_of(x, task_->method.roles);
    if (!role || *role >= task_->method.roles.size())
      return nullptr;
    const auto found = table.find(task_->method.roles[*role].procedure.value);
    return found == table.end() ? nullptr : found->second;
  }

  /// What all roles together have in a table, each once.
  template <class Table>
  std::vector<typename Table::mapped_type> of_roles(const Table& table) const {
    std::vector<typename Table::mapped_type> all;
    for (const auto& role : task_->method.roles)
      if (const auto found = table.find(role.procedure.value);
          found != table.end()
          && std::ranges::find(all, found->second) == all.end())
        all.push_back(found->second);
    return all;
  }

  local_problem problem_at(const home& x) {
    using rows = std::span<const std::uint32_t>;
    return problem_with(
      1,
      knows(x.client) ? rows{task_->clients.train[x.client.value - 1]} : rows{},
      1);
  }

  void summarise(const evaluation_input& x, evaluated& to) {
    if (!x.per_client)
      return;
    if (task_->population_error && !to.per_client.empty()) {
      double sum = 0;
      for (const auto& [client, own] : to.per_client)
        sum += own.mean_loss();
      to.method_results["test_mse"] =
        sum / static_cast<double>(to.per_client.size());
    }
    for (const auto maker : of_roles(task_->table.summaries))
      maker(x, problem_with(1, {}, 1), to);
  }

  /// Scores the live model, or as this client would.
  result<void> score(const home& x, split part,
                     std::span<const std::uint32_t> rows, scores& to) {
    if (rows.empty())
      return {};
    const auto put = [&](const scores& found) { to = found; };
    if (const auto scorer = of_role(x.client, task_->table.scorers)) {
      auto on = problem_at(x);
      return scorer(x, on, part, rows).map(put);
    }
    return model_->evaluate(part, rows).map(put);
  }

  static void multiply(trained& x, double factor) {
    for (auto& part : x.parts) {
      auto delta = *part.delta;
      for (auto& value : delta)
        value = static_cast<float>(value * factor);
      part.delta = share(std::move(delta));
    }
  }

  result<void> shorten(trained& x) {
    double squares = 0;
    for (const auto& part : x.parts) {
      const auto norm = arithmetic_->norm(*part.delta);
      if (!norm)
        return tl::unexpected{norm.error()};
      squares += *norm * *norm;
    }
    // A little shorter than allowed: what is rounded up must still pass.
    const auto norm = std::sqrt(squares);
    if (norm > task_->how.norm_max)
      multiply(x, task_->how.norm_max * (1 - 1e-6) / norm);
    return {};
  }

  const std::vector<float>* version_of(const evaluation_input& x,
                                       std::string_view name) const {
    // Of several, the first: `settle` finds the client's own.
    const auto family = task_->blocks.family(name);
    for (const auto& y : x.versions)
      if (!family.empty() && y.block == family.front())
        return y.values.get();
    return nullptr;
  }

  /// The model as it is merged, or as it always was.
  const std::vector<float>* model_of(const evaluation_input& x) const {
    if (const auto* found = version_of(x, model_family))
      return found;
    const auto kept = task_->frozen.find(std::string{model_family});
    return kept == task_->frozen.end() ? nullptr : kept->second.get();
  }

  void load(floats parameters, floats buffers) {
    TROUPE_ASSERT(parameters.empty()
                  || parameters.size() == model_->parameters().size());
    TROUPE_ASSERT(buffers.size() == model_->buffers().size());
    std::copy(parameters.begin(), parameters.end(),
              model_->parameters().begin());
    std::ranges::copy(buffers, model_->buffers().begin());
  }

  /// What this client would use itself.
  void load_at_home(const client_state* state, floats parameters,
                    floats buffers) {
    const auto kept = [&](std::string_view name, floats otherwise) {
      if (state == nullptr)
        return otherwise;
      const auto found = state->blocks.find(std::string{name});
      return found == state->blocks.end() ? otherwise
                                          : found->second.own_view();
    };
    const auto own = kept(own_model_family, {});
    if (own.empty())
      load(parameters, kept(buffers_family, buffers));
    else
      load(own, kept(own_buffers_family, fresh_buffers_));
  }

  std::shared_ptr<const local_task> task_;
  std::unique_ptr<objective> model_;
  std::unique_ptr<kernels::backend> arithmetic_;
  std::vector<std::uint32_t> test_rows_;
  std::vector<float> fresh_buffers_;
};

} // namespace

result<std::unique_ptr<trainer>>
make_local_trainer(std::shared_ptr<const local_task> task,
                   std::unique_ptr<objective> model,
                   std::unique_ptr<kernels::backend> arithmetic) {
  if (const auto good = check(*task); !good)
    return tl::unexpected{good.error()};
  return std::make_unique<local_trainer>(std::move(task), std::move(model),
                                         std::move(arithmetic));
}

trainer_factory local_trainers(std::shared_ptr<const local_task> task,
                               objective_factory make_objective) {
  return [=]() -> result<std::unique_ptr<trainer>> {
    auto model = make_objective();
    if (!model)
      return tl::unexpected{model.error()};
    auto arithmetic = kernels::make_backend({});
    if (!arithmetic)
      return tl::unexpected{arithmetic.error()};
    return make_local_trainer(task, std::move(*model), std::move(*arithmetic));
  };
}

} // namespace troupe::models
