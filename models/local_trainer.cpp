#include "models/local_trainer.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>

#include "core/assert.hpp"
#include "core/limits.hpp"
#include "core/random.hpp"
#include "models/divergence.hpp"
#include "models/local_scores.hpp"
#include "models/local_site.hpp"
#include "models/thrown.hpp"
#include "models/visit/visit.hpp"

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

result<void> check_procedure(const local_task& task, const std::string& of,
                             const procedure_name& x) {
  if (part_of(task.table, x.value, &local_method::train))
    return {};
  return fail(errc::invalid_config,
              "recipe '" + task.method.name + "', " + of
                + ": there is no local procedure '" + x.value + "'; there are "
                + names_with(&local_method::train, task.table));
}

result<void> check(const local_task& task) {
  const auto& method = task.method;
  for (const auto& x : method.roles)
    if (auto ok = check_procedure(task, "role '" + x.name + "'", x.procedure);
        !ok)
      return ok;
  if (!method.finish.value.empty())
    if (auto ok = check_procedure(task, "last visits", method.finish); !ok)
      return ok;
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

/// Of its parameters, their gradient and its buffers.
std::size_t bytes_of(objective& x) {
  return (2 * x.parameters().size() + x.buffers().size()) * sizeof(float);
}

class local_trainer : public trainer {
public:
  local_trainer(std::shared_ptr<const local_task> task,
                std::vector<std::unique_ptr<objective>> models,
                std::unique_ptr<kernels::backend> arithmetic,
                std::unique_ptr<embedder> common)
    : at_(std::move(task), std::move(arithmetic), std::move(common)),
      task_(&at_.task()),
      models_(std::move(models)) {
    // nop
  }

  result<choice> choose(const visit_input& x) override {
    const auto& legs = task_->method.legs;
    TROUPE_ASSERT(x.leg < legs.size());
    const auto& name = legs[x.leg].choice.value;
    if (name.empty())
      return choice{};
    auto on = problem_of(x, *models_.front());
    if (!on)
      return tl::unexpected{on.error()};
    cohort alone;
    visit v{fetched(x), *on, alone, 0, visit::purpose::to_look};
    task_root root;
    auto course = task_->table.at(name).choose(v);
    for (course.start(root); !course.is_over(); alone.answer())
      if (is_dismissed_)
        return dismissed();
    return course.take();
  }

  std::vector<result<trained>> train(std::span<const visit_input> xs) override {
    std::vector<result<trained>> all;
    all.reserve(xs.size());
    while (!xs.empty()) {
      const auto some = xs.first(std::min(xs.size(), models_.size()));
      xs = xs.subspan(some.size());
      train_in_step(some, all);
    }
    return all;
  }

  result<evaluated> evaluate(const evaluation_input& x) override {
    if (!task_->blocks.rounds())
      return scores_of(x, at_, *models_.front());
    auto as_sent = x;
    receive(as_sent.versions);
    return scores_of(as_sent, at_, *models_.front());
  }

  std::uint64_t examples(client_id x) const override {
    return at_.rows_of(x).size();
  }

  std::uint64_t steps(const visit_input& x) const override {
    const auto plan = plan_visit(task_->how, examples(x.visit.client), x);
    return plan.steps * passes_of(x);
  }

  void dismiss() noexcept override {
    is_dismissed_ = true;
  }

private:
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
    // Neither moves: they are pointed at.
    std::vector<under_way> all(xs.size());
    for (std::size_t i = 0; i < xs.size(); ++i)
      all[i].begun =
        caught<void>([&] { return begin(xs[i], i, together_, all[i]); });
    // What has ended leaves its frames at once.
    const auto settle = [&] {
      for (auto& x : all)
        if (x.course && x.course->is_over()) {
          x.begun = x.course->take().map([](done) {});
          x.course.reset();
        }
    };
    for (settle(); !is_dismissed_ && together_.answer() > 0;)
      settle();
    for (auto& x : all)
      if (x.course) {
        x.course.reset();
        x.begun = dismissed();
      }
    for (auto& x : all)
      to.push_back(x.begun.and_then(
        [&] { return caught<trained>([&] { return end(*x.v); }); }));
  }

  /// What is thrown is an error of the visit that it comes from.
  template <class T, class Part>
  static result<T> caught(Part part) noexcept {
    try {
      return part();
    } catch (...) {
      return tl::unexpected{what_was_thrown()};
    }
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
    to.v.emplace(fetched(x), *on, with, place);
    if (to.v->plan.idle())
      return {};
    to.course.emplace(method.train(*to.v));
    to.course->start(to.root);
    return {};
  }

  result<trained> end(visit& v) {
    auto& out = v.out;
    const auto& x = v.in;
    out.steps *= passes_of(x);
    if (is_last_visit(task_->method, x.role)) // Whatever its procedure made.
      out.parts.clear();
    if (task_->how.norm_max > 0)
      if (const auto done = shorten(out); !done)
        return tl::unexpected{done.error()};
    if (task_->attackers.clients.contains(x.visit.client))
      multiply(out, task_->attackers.scale);
    for (auto& part : out.parts)
      part.delta = sent_of(*task_->blocks.find(part.block), part.delta);
    if (!out.parts.empty() && !(std::abs(out.loss) <= limits::loss_max))
      return fail(errc::diverged,
                  std::string{"the training loss is no number any more, or "
                              "above 10^12; "}
                    + against_divergence);
    return std::move(out);
  }

  void receive(std::vector<fetched_block>& xs) const {
    for (auto& x : xs)
      if (const auto* block = task_->blocks.find(x.block))
        x.values = sent_of(*block, x.values);
  }

  visit_input fetched(visit_input x) const {
    receive(x.fetched);
    return x;
  }

  const std::string& procedure_of(const visit_input& x) const {
    const auto& method = task_->method;
    if (is_last_visit(method, x.role))
      return method.finish.value;
    TROUPE_ASSERT(x.role < method.roles.size());
    return method.roles[x.role].procedure.value;
  }

  std::uint64_t passes_of(const visit_input& x) const {
    const auto passes = task_->table.at(procedure_of(x)).passes;
    return passes ? passes(task_->how) : 1;
  }

  result<local_problem> problem_of(const visit_input& x, objective& model) {
    const auto client = x.visit.client;
    if (!at_.knows(client))
      return fail(errc::invalid_argument,
                  "client " + std::to_string(client.value)
                    + " has no data here; there are clients 1 to "
                    + std::to_string(task_->clients.train.size()));
    const auto rows = at_.rows_of(client);
    const auto weight = task_->weights.empty()
                          ? static_cast<double>(rows.size())
                          : task_->weights[client.value - 1];
    return at_.problem(model, x.progress, rows, weight, x.state.get());
  }

  static tl::unexpected<error> dismissed() {
    return fail(errc::device_failure,
                "who computed this visit was dismissed before its end");
  }

  static void multiply(trained& x, double factor) {
    for (auto& part : x.parts) {
      auto delta = part.delta.copy();
      for (auto& value : delta)
        value = static_cast<float>(value * factor);
      part.delta = share(std::move(delta));
    }
  }

  result<void> shorten(trained& x) {
    double squares = 0;
    for (const auto& part : x.parts) {
      const auto norm = at_.arithmetic().norm(*part.delta);
      if (!norm)
        return tl::unexpected{norm.error()};
      squares += *norm * *norm;
    }
    // A little shorter than allowed: what is rounded up must still pass, and of
    // a bf16 each value may be by one part in 256.
    const bool rounds = task_->blocks.rounds();
    const auto most = task_->how.norm_max * (1 - (rounds ? 0x1p-8 : 1e-6));
    const auto norm = std::sqrt(squares);
    if (norm > (rounds ? most : task_->how.norm_max))
      multiply(x, most / norm);
    return {};
  }

  local_site at_;
  const local_task* task_;
  /// A visit has one to itself; what is chosen or scored has the first.
  std::vector<std::unique_ptr<objective>> models_;
  cohort together_; ///< Keeps the room of one visit for the next.
  std::atomic<bool> is_dismissed_ = false; // Looked at between two answers.
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
  auto common = embedder_of(*task);
  if (!common)
    return tl::unexpected{std::move(common.error())};
  return std::make_unique<local_trainer>(std::move(task), std::move(models),
                                         std::move(arithmetic),
                                         std::move(*common));
}

trainer_factory local_trainers(std::shared_ptr<const local_task> task,
                               objective_factory make_objective,
                               in_step_limit in_step,
                               backend_factory make_backend) {
  return [=]() -> result<std::unique_ptr<trainer>> {
    std::vector<std::unique_ptr<objective>> models;
    std::size_t bytes = 0;
    do {
      auto model = make_objective();
      if (!model)
        return tl::unexpected{model.error()};
      bytes += bytes_of(**model);
      models.push_back(std::move(*model));
    } while (models.size() < in_step.most
             && bytes / models.size() * (models.size() + 1) <= in_step.bytes);
    auto arithmetic = make_backend ? make_backend() : kernels::make_backend({});
    if (!arithmetic)
      return tl::unexpected{arithmetic.error()};
    return make_local_trainer(task, std::move(models), std::move(*arithmetic));
  };
}

} // namespace troupe::models
