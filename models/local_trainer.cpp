#include "models/local_trainer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/assert.hpp"
#include "core/limits.hpp"
#include "core/random.hpp"
#include "models/methods/visit.hpp"
#include "models/thrown.hpp"
#include "policies/invitations.hpp"

namespace troupe::models {

namespace {

/// Those of the methods that have some part.
template <class Part>
std::string names_with(Part part, const method_table& xs) {
  std::string result;
  for (const auto& [name, x] : xs)
    if (x.*part)
      result += (result.empty() ? "" : ", ") + name;
  return result.empty() ? "none" : result;
}

/// Null where there is none of this name, or it has no such part.
template <class Part>
auto part_of(const method_table& xs, const std::string& name, Part part) {
  const auto found = xs.find(name);
  return found == xs.end() ? nullptr : found->second.*part;
}

result<void> check(const local_task& task) {
  const auto& method = task.method;
  for (const auto& x : method.roles)
    if (!part_of(task.table, x.procedure.value, &local_method::train))
      return fail(errc::invalid_config,
                  "recipe '" + method.name + "', role '" + x.name
                    + "': there is no local procedure '" + x.procedure.value
                    + "'; there are "
                    + names_with(&local_method::train, task.table));
  for (const auto& x : method.legs)
    if (!x.choice.value.empty()
        && !part_of(task.table, x.choice.value, &local_method::choose))
      return fail(errc::invalid_config,
                  "recipe '" + method.name + "': there is no choice '"
                    + x.choice.value + "'; there are "
                    + names_with(&local_method::choose, task.table));
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
                std::vector<std::unique_ptr<objective>> models,
                std::unique_ptr<kernels::backend> arithmetic)
    : task_(std::move(task)),
      models_(std::move(models)),
      model_(models_.front().get()),
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
    auto on = problem_of(x, *model_);
    if (!on)
      return tl::unexpected{on.error()};
    cohort alone;
    visit v{x, *on, alone, 0, visit::purpose::to_look};
    return run_alone(alone, task_->table.at(name).choose(v));
  }

  std::vector<result<trained>> train(std::span<const visit_input> xs) override {
    std::vector<result<trained>> all;
    while (!xs.empty()) {
      const auto some = xs.first(std::min(xs.size(), models_.size()));
      xs = xs.subspan(some.size());
      train_in_step(some, all);
    }
    return all;
  }

  result<evaluated> evaluate(const evaluation_input& x) override {
    evaluated out;
    const auto* parameters = model_of(x);
    const auto* buffers = version_of(x, buffers_family);
    if (parameters == nullptr && of_roles(&local_method::home).empty())
      return out;
    // Where there is no whole model, clients make one.
    const auto model = parameters ? floats{*parameters} : floats{};
    if (task_->method.offers && has_model({}, parameters)) {
      load(model, buffers ? std::span{*buffers} : fresh_buffers_);
      const auto newcomer = at_home({}, {.versions = x.versions, .states = {}});
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
      const auto own = at_home(client, x);
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

  /// A visit and its computation, which ends before it.
  struct under_way {
    result<void> begun = {};
    std::optional<visit> v = {};
    task_root root = {};
    std::optional<task<done>> course = {};
  };

  // @pre there is an objective for each
  void train_in_step(std::span<const visit_input> xs,
                     std::vector<result<trained>>& to) {
    cohort together;
    // Neither moves: they are pointed at.
    std::vector<under_way> all(xs.size());
    for (std::size_t i = 0; i < xs.size(); ++i)
      all[i].begun = begin(xs[i], i, together, all[i]);
    // What has ended leaves its frames at once.
    const auto settle = [&] {
      for (auto& x : all)
        if (x.course && x.course->is_over()) {
          x.begun = x.course->take().map([](done) {});
          x.course.reset();
        }
    };
    for (settle(); together.answer() > 0;)
      settle();
    for (auto& x : all)
      to.push_back(x.begun.and_then([&] { return end(*x.v); }));
  }

  result<void> begin(const visit_input& x, std::size_t place, cohort& with,
                     under_way& to) {
    const auto& method = task_->table.at(procedure_of(x));
    auto on = problem_of(x, *models_[place]);
    if (!on)
      return tl::unexpected{on.error()};
    if (method.needs)
      if (auto ok = method.needs(task_->method, task_->how); !ok)
        return ok;
    to.v.emplace(x, *on, with, place);
    if (to.v->plan.idle())
      return {};
    try {
      to.course.emplace(method.train(*to.v));
    } catch (...) {
      return tl::unexpected{what_was_thrown()};
    }
    to.course->start(to.root);
    return {};
  }

  result<trained> end(visit& v) {
    auto& out = v.out;
    const auto& x = v.in;
    out.steps *= passes_of(x);
    if (task_->how.norm_max > 0)
      if (const auto done = shorten(out); !done)
        return tl::unexpected{done.error()};
    if (task_->attackers.clients.contains(x.visit.client))
      multiply(out, task_->attackers.scale);
    if (!out.parts.empty() && !(std::abs(out.loss) <= limits::loss_max))
      return fail(errc::diverged,
                  "the training loss is no number any more, or above 10^12; "
                  "a smaller learning_rate may help");
    return std::move(out);
  }

  bool knows(client_id x) const {
    return x.value >= 1 && x.value <= task_->clients.train.size();
  }

  const std::string& procedure_of(const visit_input& x) const {
    TROUPE_ASSERT(x.role < task_->method.roles.size());
    return task_->method.roles[x.role].procedure.value;
  }

  std::uint64_t passes_of(const visit_input& x) const {
    const auto passes = task_->table.at(procedure_of(x)).passes;
    return passes ? passes(task_->how) : 1;
  }

  result<local_problem> problem_of(const visit_input& x, objective& model) {
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
    return problem_with(model, x.progress, rows, weight);
  }

  local_problem problem_with(objective& model, double progress,
                             std::span<const std::uint32_t> rows,
                             double weight) {
    return {.model = model,
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
  result<void> settle(const visit_input& x) {
    const auto maker = of_role(x.visit.client, &local_method::home);
    if (!maker)
      return {};
    cohort alone;
    visit v{x, problem_at(x), alone, 0, visit::purpose::to_look};
    return run_alone(alone, maker(v)).map([](done) {});
  }

  /// A shared one, or what its role makes of what is shared.
  bool has_model(client_id x, const std::vector<float>* shared_one) const {
    return shared_one != nullptr || of_role(x, &local_method::home) != nullptr;
  }

  /// A part of the method of a client's role; null: it has none. Nobody has the
  /// role of those who are no members of any.
  template <class Part>
  Part of_role(client_id x, Part local_method::*part) const {
    const auto role = policies::role_of(x, task_->method.roles);
    if (!role || *role >= task_->method.roles.size())
      return nullptr;
    return part_of(task_->table, task_->method.roles[*role].procedure.value,
                   part);
  }

  /// Those of all roles together, each once.
  template <class Part>
  std::vector<Part> of_roles(Part local_method::*part) const {
    std::vector<Part> all;
    for (const auto& role : task_->method.roles)
      if (const auto found = part_of(task_->table, role.procedure.value, part);
          found && std::ranges::find(all, found) == all.end())
        all.push_back(found);
    return all;
  }

  local_problem problem_at(const visit_input& x) {
    using rows = std::span<const std::uint32_t>;
    const auto client = x.visit.client;
    return problem_with(
      *model_, 1,
      knows(client) ? rows{task_->clients.train[client.value - 1]} : rows{}, 1);
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
    for (const auto maker : of_roles(&local_method::summary))
      maker(x, problem_with(*model_, 1, {}, 1), to);
  }

  /// Scores the live model, or as this client would.
  result<void> score(const visit_input& x, split part,
                     std::span<const std::uint32_t> rows, scores& to) {
    if (rows.empty())
      return {};
    const auto put = [&](const scores& found) { to = found; };
    if (const auto scorer = of_role(x.visit.client, &local_method::score)) {
      cohort alone;
      visit v{x, problem_at(x), alone, 0, visit::purpose::to_look};
      return run_alone(alone, scorer(v, part, rows)).map(put);
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
  /// A visit has one to itself; what is scored has the first.
  std::vector<std::unique_ptr<objective>> models_;
  objective* model_;
  std::unique_ptr<kernels::backend> arithmetic_;
  std::vector<std::uint32_t> test_rows_;
  std::vector<float> fresh_buffers_;
};

} // namespace

result<std::unique_ptr<trainer>>
make_local_trainer(std::shared_ptr<const local_task> task,
                   std::unique_ptr<objective> model,
                   std::unique_ptr<kernels::backend> arithmetic) {
  std::vector<std::unique_ptr<objective>> one;
  one.push_back(std::move(model));
  return make_local_trainer(std::move(task), std::move(one),
                            std::move(arithmetic));
}

result<std::unique_ptr<trainer>>
make_local_trainer(std::shared_ptr<const local_task> task,
                   std::vector<std::unique_ptr<objective>> models,
                   std::unique_ptr<kernels::backend> arithmetic) {
  if (const auto good = check(*task); !good)
    return tl::unexpected{good.error()};
  return std::make_unique<local_trainer>(std::move(task), std::move(models),
                                         std::move(arithmetic));
}

trainer_factory local_trainers(std::shared_ptr<const local_task> task,
                               objective_factory make_objective,
                               std::size_t in_step) {
  return [=]() -> result<std::unique_ptr<trainer>> {
    std::vector<std::unique_ptr<objective>> models;
    while (models.size() < in_step) {
      auto model = make_objective();
      if (!model)
        return tl::unexpected{model.error()};
      models.push_back(std::move(*model));
    }
    auto arithmetic = kernels::make_backend({});
    if (!arithmetic)
      return tl::unexpected{arithmetic.error()};
    return make_local_trainer(task, std::move(models), std::move(*arithmetic));
  };
}

} // namespace troupe::models
