#include "actors/node/commands/bench.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ostream>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "actors/archivist/sqlite_store.hpp"
#include "actors/node/command_line.hpp"
#include "actors/node/config.hpp"
#include "actors/node/run/chronicle.hpp"
#include "actors/node/run/federation.hpp"
#include "actors/node/task.hpp"
#include "actors/node/wiring.hpp"
#include "core/clock.hpp"
#include "models/noop_trainer.hpp"
#include "models/torch/bare_loop.hpp"
#include "policies/catalogue.hpp"

namespace troupe::node {

namespace {

struct figure {
  std::string name;
  double value = 0;
  std::string unit;
  std::string compared_with;
  double ratio = 0;
  std::optional<double> bar; ///< None: reported, not judged.
  bool at_most = true;       ///< The ratio; else at least.

  bool holds() const {
    return !bar || (at_most ? ratio <= *bar : ratio >= *bar);
  }
};

nlohmann::ordered_json to_json(const figure& x) {
  nlohmann::ordered_json line{
    {"name", x.name},    {"value", x.value},
    {"unit", x.unit},    {"compared_with", x.compared_with},
    {"ratio", x.ratio},  {"bar", nullptr},
    {"holds", x.holds()}};
  if (x.bar)
    line["bar"] = *x.bar;
  return line;
}

/// What one federation cost.
struct cost {
  double wall_seconds = 0;
  double cpu_seconds = 0;
  std::uint64_t visits = 0;
};

result<cost> measure(const experiment& x, const workload& work,
                     std::shared_ptr<actors::store> books, bool inline_work) {
  if (auto ok = begin_lines(*books, *work.blocks, work.initial); !ok)
    return tl::make_unexpected(ok.error());
  auto watching = std::make_shared<chronicle>(
    chronicle::options{.blocks = work.blocks,
                       .lines = {},
                       .clients = x.clients.clients,
                       .has_labels = false,
                       .goal = {},
                       .metrics = [](const std::string&) {},
                       .show = [](const progress_report&) {}});
  const auto wall = steady_now();
  const auto cpu = process_cpu_time();
  auto done = run_federation({.x = x,
                              .work = work,
                              .books = std::move(books),
                              .watching = watching,
                              .counted = std::make_shared<actors::traffic>(),
                              .inline_work = inline_work});
  if (!done)
    return tl::make_unexpected(done.error());
  return cost{.wall_seconds = seconds(steady_now() - wall),
              .cpu_seconds = seconds(process_cpu_time() - cpu),
              .visits = watching->report().visits};
}

/// CPU per visit of an example over a bare loop that does the same steps, the
/// two in turn; the least of each, since others use this machine too.
result<figure> cpu_per_visit(const model_maker& make_model,
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
  double ours = 1e9;
  double bare = 1e9;
  for (int i = 0; i < 3; ++i) {
    auto run = measure(loaded->x, *work, actors::make_memory_store({}), false);
    if (!run)
      return tl::make_unexpected(run.error());
    ours = std::min(ours, run->cpu_seconds / static_cast<double>(run->visits));
    auto loop = models::bare_loop(
      *data, work->task->clients.train,
      {.learning_rate = loaded->x.training.learning_rate, .visits = 1000});
    if (!loop)
      return tl::make_unexpected(loop.error());
    bare = std::min(bare, *loop);
  }
  return figure{.name = "cpu_per_visit",
                .value = ours * 1e3,
                .unit = "ms",
                .compared_with = "a bare LibTorch loop",
                .ratio = ours / bare,
                .bar = 1.15};
}

/// A federation that learns nothing: what remains is the runtime.
workload idle_workload(std::size_t clients) {
  workload work{.method = policies::catalogue().front(),
                .blocks = {},
                .initial = {},
                .task = {},
                .make_trainer = {},
                .has_labels = false};
  auto blocks = models::make_layout(
    work.method,
    {{"model", {{.name = "w", .shape = {1000}}}}, {"model.buffers", {}}},
    {.weight_max = 1, .delta_max = 8});
  work.blocks = std::make_shared<const models::layout>(std::move(*blocks));
  work.initial[work.blocks->blocks.front().id] =
    share(std::vector<float>(1000));
  auto task = std::make_shared<models::local_task>();
  task->clients.train.assign(clients, {0});
  task->clients.test.assign(clients, {});
  work.task = std::move(task);
  work.make_trainer = models::noop_trainers(*work.blocks, {});
  return work;
}

// With the catalogue's first method, which has one block and one leg.
constexpr std::string_view idle_text = R"(
clock = "wall"
updates = 128000
evaluate_every = 0
[clients]
clients = 256
[pace]
mode = "fedbuff"
buffer_size = 64
concurrency = 192
[data]
kind = "quadratic"
[model]
kind = "quadratic"
)";

result<figure> idle_visits(bool on_disk) {
  auto loaded = parse_config(
    {idle_text, "bench"},
    std::vector<std::string>{"method=" + policies::catalogue().front().name,
                             on_disk ? "events=true" : "events=false",
                             on_disk ? "updates=32000" : "updates=128000"});
  if (!loaded)
    return tl::make_unexpected(loaded.error());
  const auto work = idle_workload(loaded->x.clients.clients);
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
  auto run = measure(loaded->x, work, std::move(books), true);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  if (!run)
    return tl::make_unexpected(run.error());
  const auto rate = static_cast<double>(run->visits) / run->wall_seconds;
  figure x{.name = on_disk ? "idle_visits_on_disk" : "idle_visits",
           .value = rate,
           .unit = "1/s",
           .compared_with = "50,000 visits a second",
           .ratio = rate / 50'000,
           .bar = {},
           .at_most = false};
  if (!on_disk)
    x.bar = 1;
  return x;
}

} // namespace

exit_code bench_command(const model_maker& make_model, arguments args,
                        streams io) {
  command_line line{{"bench", "The project's own figures.",
                     "bench --only idle_visits --format json"}};
  std::string only;
  std::string example = "deploy/examples/tiny.toml";
  line.app().add_option("--only", only,
                        "cpu_per_visit, idle_visits or idle_visits_on_disk");
  line.app().add_option("--example", example, "what cpu_per_visit runs");
  if (const auto end = line.parse(args, io))
    return *end;
  const std::vector<std::pair<std::string, std::function<result<figure>()>>>
    all{{"cpu_per_visit", [&] { return cpu_per_visit(make_model, example); }},
        {"idle_visits", [] { return idle_visits(false); }},
        {"idle_visits_on_disk", [] { return idle_visits(true); }}};
  nlohmann::ordered_json figures = nlohmann::ordered_json::array();
  bool hold = true;
  for (const auto& [name, make] : all) {
    if (!only.empty() && only != name)
      continue;
    io.err << "measuring " << name << "\n";
    const auto x = make();
    if (!x)
      return report(x.error(), line.json(), io);
    hold = hold && x->holds();
    figures.push_back(to_json(*x));
    if (!line.json())
      io.out << x->name << "  " << x->value << ' ' << x->unit << ", "
             << x->ratio << " of " << x->compared_with
             << (x->holds() ? "" : "  BELOW ITS BAR") << '\n';
  }
  if (figures.empty())
    return report({.code = "unknown_figure",
                   .what = "there is no figure '" + only + "'",
                   .why = "there are cpu_per_visit, idle_visits and "
                          "idle_visits_on_disk"},
                  exit_code::usage, line.json(), io);
  if (line.json())
    io.out
      << nlohmann::ordered_json{{"success", hold}, {"figures", figures}}.dump(2)
      << '\n';
  return hold ? exit_code::ok : exit_code::failed;
}

} // namespace troupe::node
