#include "node/commands/bench.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ostream>

#include <unistd.h>

#include "actors/record/sqlite_store.hpp"
#include "core/clock.hpp"
#include "core/json.hpp"
#include "node/commands/bench_control.hpp"
#include "node/commands/bench_crowd.hpp"
#include "node/commands/bench_director.hpp"
#include "node/commands/bench_gate.hpp"
#include "node/commands/bench_language.hpp"
#include "node/commands/bench_memory.hpp"
#include "node/commands/bench_recover.hpp"
#include "node/commands/bench_scrape.hpp"
#include "node/commands/bench_visits.hpp"
#include "node/commands/bench_watching.hpp"
#include "node/commands/bench_wire.hpp"
#include "node/commands/command_line.hpp"
#include "node/commands/figure.hpp"
#include "node/commands/idle_workload.hpp"
#include "node/commands/measured_run.hpp"
#include "node/config/config.hpp"
#include "node/run/federation.hpp"
#include "node/task/data.hpp"
#include "node/task/torch_model.hpp"

namespace troupe::node {

namespace {

/// CPU per visit of an example over a bare loop that does the same steps, the
/// two in turn.
result<sample> cpu_per_visit(const model_maker& make_model,
                             const std::string& example) {
  auto loaded = load_config(example, std::vector<std::string>{"events=false"});
  if (!loaded)
    return tl::make_unexpected(loaded.error());
  const auto work = prepare(loaded->x, make_model);
  if (!work)
    return tl::make_unexpected(work.error());
  auto data = load_data(loaded->x);
  if (!data)
    return tl::make_unexpected(data.error());
  const auto run = measure({.x = loaded->x,
                            .work = *work,
                            .books = actors::make_memory_store({}),
                            .watching = quiet_chronicle(loaded->x, *work),
                            .counted = std::make_shared<actors::traffic>()});
  if (!run)
    return tl::make_unexpected(run.error());
  auto bare = bare_visits(
    *data, work->task->clients.train,
    {.learning_rate = loaded->x.training.learning_rate, .visits = 1000});
  if (!bare)
    return tl::make_unexpected(bare.error());
  return sample{run->cpu_seconds / static_cast<double>(run->visits), *bare};
}

/// CPU of a method's long visit over that of a bare loop of plain autograd with
/// the same model and batches, without a federation around it.
result<sample> step_of(const model_maker& make_model,
                       const std::string& example, const std::string& method) {
  constexpr int visits = 10, epochs = 10, batch = 32;
  auto loaded = load_config(
    example, std::vector<std::string>{"method=" + method, "components=4",
                                      "local_epochs=" + std::to_string(epochs),
                                      "batch_size=" + std::to_string(batch),
                                      "samples_per_client=320"});
  if (!loaded)
    return tl::make_unexpected(loaded.error());
  const auto work = prepare(loaded->x, make_model);
  if (!work)
    return tl::make_unexpected(work.error());
  const auto trainer = work->make_trainer();
  if (!trainer)
    return tl::make_unexpected(trainer.error());
  models::visit_input visit;
  for (const auto& [block, values] : work->initial)
    visit.fetched.push_back({block, {}, values});
  const auto begin = process_cpu_time();
  for (visit.visit.client = {1}; visit.visit.client.value <= visits;
       ++visit.visit.client.value)
    if (const auto done = (*trainer)->train(visit); !done)
      return tl::make_unexpected(done.error());
  const auto taken = seconds(process_cpu_time() - begin) / visits;
  auto data = load_data(loaded->x);
  if (!data)
    return tl::make_unexpected(data.error());
  auto bare = bare_visits(*data, work->task->clients.train,
                          {.batch_size = batch,
                           .epochs = epochs,
                           .learning_rate = loaded->x.training.learning_rate,
                           .visits = visits});
  return bare.map([&](double compared) { return sample{taken, compared}; });
}

constexpr double idle_visits_wanted = 50'000; // A second.

result<sample> idle_visits(bool on_disk) {
  const auto x =
    idle_experiment({on_disk ? "events=true" : "events=false",
                     on_disk ? "updates=32000" : "updates=128000"});
  if (!x)
    return tl::make_unexpected(x.error());
  const auto work = idle_workload_of(*x);
  const auto folder = std::filesystem::temp_directory_path()
                      / ("troupe-bench-" + std::to_string(getpid()));
  std::shared_ptr<actors::store> books = actors::make_memory_store({});
  if (on_disk) {
    std::filesystem::create_directories(folder);
    auto made = actors::make_sqlite_store({.folder = folder});
    if (!made)
      return tl::make_unexpected(made.error());
    books = std::move(*made);
  }
  const auto run = measure({.x = *x,
                            .work = work,
                            .books = std::move(books),
                            .watching = quiet_chronicle(*x, work),
                            .counted = std::make_shared<actors::traffic>(),
                            .inline_work = true});
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  if (!run)
    return tl::make_unexpected(run.error());
  return sample{run->wall_seconds / static_cast<double>(run->visits),
                1 / idle_visits_wanted};
}

using director_table = std::shared_ptr<std::vector<director_cost>>;

/// What of the director's work grows with the number of clients.
std::vector<figure> director_figures(const director_table& table) {
  std::vector<figure> all;
  for (const bool busy : {false, true})
    for (const auto part : {&director_cost::p50, &director_cost::p99})
      all.push_back({.name = std::string{"director_"} + (busy ? "busy_" : "")
                             + (part == &director_cost::p50 ? "p50" : "p99"),
                     .unit = "ms",
                     .compared_with = "the same with 1,000 clients",
                     .bar = {}, // Of what lies anywhere in memory, not much is
                                // in the caches.
                     .repetitions = 1,
                     .once = [=]() -> result<sample> {
                       if (table->empty())
                         *table = director_costs();
                       const auto& few = (*table)[busy ? 3 : 0];
                       const auto& many = (*table)[busy ? 5 : 2];
                       return sample{many.*part, few.*part};
                     }});
  return all;
}

json to_json(const director_cost& x) {
  return {{"clients", x.clients},
          {"busy", x.busy},
          {"p50_us", x.p50 * 1e6},
          {"p99_us", x.p99 * 1e6},
          {"bytes_a_client", x.bytes_a_client},
          {"touch_p50_us", x.touch_p50 * 1e6}};
}

void tell(const director_cost& x, std::ostream& to) {
  to << "director  " << x.clients << " clients, " << x.busy * 100
     << " % busy: p50 " << x.p50 * 1e6 << " us, p99 " << x.p99 * 1e6 << " us, "
     << x.bytes_a_client
     << " bytes a client, of which six lines at random: p50 "
     << x.touch_p50 * 1e6 << " us\n";
}

std::vector<figure> all_figures(const model_maker& make_model,
                                const std::string& example,
                                const std::string& texts,
                                const director_table& table) {
  const std::string rate = "50,000 visits a second";
  std::vector<figure> all{
    {.name = "cpu_per_visit",
     .unit = "ms",
     .compared_with = "a bare LibTorch loop",
     .bar = 1.15,
     .repetitions = 12, // Others may take the caches for seconds.
     .once = [=] { return cpu_per_visit(make_model, example); }},
    {.name = "idle_visits",
     .unit = "1/s",
     .compared_with = rate,
     .bar = 1,
     .repetitions = 5,
     .once = [] { return idle_visits(false); }},
    {.name = "idle_visits_on_disk",
     .unit = "1/s",
     .compared_with = rate,
     .bar = {},
     .repetitions = 1,
     .once = [] { return idle_visits(true); }}};
  std::ranges::move(director_figures(table), std::back_inserter(all));
  for (auto figures :
       {control_figures(), wire_figures(), visit_figures(make_model, example),
        crowd_figures(), recover_figures(), scrape_figures(),
        gate_figures(make_model, example), language_figures(texts)})
    std::ranges::move(figures, std::back_inserter(all));
  all.push_back(merge_memory_figure());
  all.push_back(watching_figure());
  return all;
}

/// One of that name, or else all of that kind.
void keep(std::vector<figure>& all, const std::string& only) {
  const bool is_one = std::ranges::count(all, only, &figure::name) > 0;
  std::erase_if(all, [&](const figure& x) {
    return !only.empty()
           && (is_one ? x.name != only : !x.name.starts_with(only + "_"));
  });
}

void tell(const figure& x, std::ostream& to) {
  if (x.problem) {
    to << x.name << "  " << (x.is_left_out() ? "is left out: " : "GAVE NONE: ")
       << x.problem->context << '\n';
    return;
  }
  to << x.name << "  " << x.value() << ' ' << x.unit << ", " << x.ratio()
     << " of " << x.compared_with << " (median " << x.median_ratio() << ")"
     << (x.holds() ? "" : "  MISSES ITS BAR") << '\n';
}

/// What trains here, and by whose kernels; empty where nothing does.
std::string kernels_of(const host_facts& known) {
  return known.arithmetic ? known.arithmetic().value_or("") : "";
}

exit_code tell_all(const std::vector<figure>& figures,
                   const std::vector<director_cost>& table,
                   const std::string& kernels, bool in_json,
                   std::ostream& out) {
  auto lines = json::array();
  auto rows = json::array();
  for (const auto& x : figures)
    lines.push_back(to_json(x));
  for (const auto& x : table)
    rows.push_back(to_json(x));
  const bool hold = std::ranges::all_of(figures, &figure::holds);
  if (in_json) {
    out << json{{"success", hold},
                {"kernels", kernels},
                {"figures", lines},
                {"director", rows}}
             .dump(2)
        << '\n';
  } else {
    if (!kernels.empty())
      out << "kernels  " << kernels << '\n';
    for (const auto& x : figures)
      tell(x, out);
    for (const auto& x : table)
      tell(x, out);
  }
  return hold ? exit_code::ok : exit_code::failed;
}

} // namespace

exit_code bench_command(const model_maker& make_model, const host_facts& known,
                        arguments args, streams io) {
  command_line line{{"bench", "The project's own figures.",
                     "bench --only idle_visits --format json"}};
  std::string only;
  std::string example = "deploy/examples/tiny.toml";
  line.add("--only", &only, "one of them, by its name, or those of one kind");
  line.add("--example", &example, "what cpu_per_visit runs");
  std::string texts = "build/language";
  line.add("--texts", &texts, "for language: what ./dev data language made");
  std::optional<int> repetitions;
  line.add("--repetitions", &repetitions, "of each figure",
           {.range = std::pair{1, 1000}});
  std::string method;
  std::optional<double> at_most;
  line.add("--method", &method, "measure a step of this method too, as 'step'");
  line.add("--at-most", &at_most, "the bar of 'step'");
  if (const auto end = line.parse(args, io))
    return *end;
  const auto table = std::make_shared<std::vector<director_cost>>();
  auto figures = all_figures(make_model, example, texts, table);
  if (!method.empty())
    figures.push_back(
      {.name = "step",
       .unit = "ms",
       .compared_with = "a bare LibTorch loop of one model",
       .bar = at_most,
       .repetitions = 8,
       .once = [=] { return step_of(make_model, example, method); }});
  std::string names;
  for (const auto& x : figures)
    names += (names.empty() ? "" : ", ") + x.name;
  keep(figures, only);
  if (figures.empty())
    return report({.code = "unknown_figure",
                   .what = "there is no figure '" + only + "'",
                   .why = "there are " + names},
                  exit_code::usage, line.json(), io);
  for (auto& x : figures)
    x.repetitions = repetitions.value_or(x.repetitions);
  measure_all(figures, io.err);
  // Torch is in this process from here on: no figure was to have it by this.
  return tell_all(figures, *table, kernels_of(known), line.json(), io.out);
}

} // namespace troupe::node
