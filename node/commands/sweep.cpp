#include "node/commands/sweep.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <thread>

#include "models/files.hpp"
#include "node/run/interrupt.hpp"
#include "node/sweep/sweep_runs.hpp"
#include "node/task/workload.hpp"
#include "node/watch/folder.hpp"

namespace troupe::node {

namespace {

namespace fs = std::filesystem;

std::string sweep_in(const std::string& folder) {
  return folder + "/sweep.toml";
}

/// What its runs begin from.
std::string base_in(const std::string& folder) {
  return folder + "/base.toml";
}

result<void> write(const fs::path& path, const std::string& text) {
  std::ofstream file{path};
  file << text << std::flush;
  if (!file)
    return fail(errc::storage_failure, path.string() + ": cannot be written");
  return {};
}

/// With the rights of what is written here, whoever may read the original.
result<void> copy(const std::string& from, const fs::path& to) {
  return models::read_text(from, errc::storage_failure)
    .and_then([&](const std::string& text) { return write(to, text); });
}

/// Makes the folder of a new sweep, with its configuration.
result<fs::path> make_folder(const sweep_wish& wish, const std::string& base,
                             const experiment& x) {
  const auto path = make_dated_folder(
    wish.folder.empty() ? x.folder : wish.folder, x.name + "-sweep");
  if (!path)
    return path;
  std::error_code wrong;
  fs::create_directory(*path / "cells", wrong);
  if (wrong)
    return fail(errc::storage_failure,
                path->string()
                  + ": cannot write the sweep here: " + wrong.message());
  std::string changes;
  for (const auto& change : wish.changes)
    changes += change + '\n';
  return copy(wish.file, sweep_in(path->string()))
    .and_then([&] { return copy(base, base_in(path->string())); })
    .and_then([&] { return write(*path / "changes.txt", changes); })
    .and_then([&] {
      return write(*path / "started_in.txt", fs::current_path().string());
    })
    .map([&] { return fs::absolute(*path); });
}

/// Paths in its files are from where it was started.
result<fs::path> go_back_to(const std::string& folder) {
  const auto path = fs::absolute(folder);
  const auto from =
    models::read_text(path / "started_in.txt", errc::storage_failure)
      .value_or(std::string{});
  std::error_code wrong;
  if (!from.empty())
    fs::current_path(from, wrong);
  if (wrong)
    return fail(errc::storage_failure,
                "the sweep was started in " + from
                  + ", which cannot be entered: " + wrong.message());
  return path;
}

/// Metrics that no run has: a word that is not spelt as the result has it.
std::string absent_in(const sweep_plan& plan,
                      const std::vector<sweep_line>& lines) {
  std::string names;
  for (std::size_t m = 0; m < plan.metrics.size(); ++m)
    if (std::ranges::all_of(
          lines, [&](const auto& x) { return x.metrics[m].count == 0; }))
      names += (names.empty() ? "'" : ", '") + plan.metrics[m] + "'";
  return names;
}

std::vector<std::string> changes_in(const fs::path& folder) {
  std::vector<std::string> result;
  auto file =
    models::line_reader::open(folder / "changes.txt", errc::storage_failure);
  while (file && file->next())
    result.push_back(file->line());
  return result;
}

result<std::string> write_tables(const sweep_plan& plan, const fs::path& folder,
                                 const std::vector<sweep_line>& lines) {
  const auto table = as_markdown(plan, lines);
  return write(folder / "table.md", table)
    .and_then([&] { return write(folder / "table.csv", as_csv(plan, lines)); })
    .and_then([&] {
      return write(folder / "table.json", as_json(plan, lines).dump(2) + "\n");
    })
    .and_then(
      [&] { return write(folder / "figure.svg", as_figure(plan, lines)); })
    .map([&] { return table; });
}

exit_code conclude(const sweep_plan& plan, const fs::path& folder,
                   const std::vector<sweep_line>& lines, bool stopped,
                   bool json, streams io) {
  const auto table = write_tables(plan, folder, lines);
  if (!table)
    return report(table.error(), json, io);
  const auto absent = absent_in(plan, lines);
  if (stopped)
    return report({.code = "interrupted",
                   .what = "the sweep was interrupted",
                   .why = "what has ended is in " + folder.string(),
                   .hint = "troupe run --resume " + folder.string()
                           + " makes the other runs"},
                  exit_code::interrupted, json, io);
  std::size_t failed = 0;
  for (const auto& line : lines)
    failed += line.failed;
  if (failed > 0)
    return report(
      {.code = "run_failed",
       .what = std::to_string(failed) + " runs failed",
       .why = "their logs are in " + (folder / "cells").string(),
       .hint = "troupe run --resume " + folder.string() + " tries them again"},
      exit_code::failed, json, io);
  if (!absent.empty())
    return report(
      {.code = "unknown_metric",
       .what = "no run has a number called " + absent,
       .why = "what each run has is in " + (folder / "cells").string(),
       .hint = "'metrics' of [sweep] names numbers of a result, such as "
               "accuracy, loss, per_client.mean, zero_shot.mean, or those of "
               "method_results"},
      exit_code::failed, json, io);
  if (json)
    io.out << troupe::json{{"success", true},
                           {"folder", folder.string()},
                           {"rows", as_json(plan, lines)}}
                .dump(2)
           << std::endl;
  else
    io.out << *table << "  folder  " << folder.string() << std::endl;
  return exit_code::ok;
}

exit_code make_runs(const sweep_plan& plan, sweep_wish wish,
                    const model_maker& make_model, streams io) {
  const bool goes_on = !wish.resume.empty();
  if (goes_on) {
    const auto back = go_back_to(wish.resume);
    if (!back)
      return report(back.error(), wish.json, io);
    wish.resume = back->string();
    wish.changes = changes_in(wish.resume);
  }
  const auto base = goes_on ? base_in(wish.resume) : plan.run;
  // Each row is prepared before there is anything of any: one that cannot be
  // run is not found after hours.
  const auto fits = [&](const experiment& x) {
    return goes_on ? result<void>{}
                   : prepare(x, make_model).map([](const auto&) {});
  };
  const auto first = check_rows(plan, base, wish.changes, fits, io.err);
  if (!first)
    return report(first.error(), wish.json, io);
  const auto folder =
    goes_on ? result<fs::path>{wish.resume} : make_folder(wish, base, *first);
  if (!folder)
    return report(folder.error(), wish.json, io);
  // As many at once as there are cores, unless the runs ask for more of them.
  const auto cores = std::max(1u, std::thread::hardware_concurrency());
  if (first->workers == 0)
    wish.changes.emplace_back("workers=1");
  const auto each = std::max(1u, first->workers);
  const interruption stop;
  const sweep_orders orders{.program =
                              fs::read_symlink("/proc/self/exe").string(),
                            .config = base_in(folder->string()),
                            .folder = *folder,
                            .changes = wish.changes,
                            .at_once = std::max(1u, cores / each),
                            .metric = plan.metrics.front(),
                            .stop = &stop.requested(),
                            .progress = &io.err};
  const auto cells = cells_of(plan);
  io.err << cells.size() << " runs, " << orders.at_once << " at a time; folder "
         << folder->string() << std::endl;
  run_cells(orders, cells);
  return conclude(plan, *folder, lines_of(plan, found_results(orders, cells)),
                  stop.requested(), wish.json, io);
}

} // namespace

std::optional<exit_code> sweep_if_asked(const sweep_wish& wish,
                                        const model_maker& make_model,
                                        streams io) {
  const auto source = wish.resume.empty() ? wish.file : sweep_in(wish.resume);
  const auto plan = load_sweep(source);
  if (!plan)
    return report({.code = "invalid_config",
                   .what = "this sweep cannot be made",
                   .why = plan.error().context},
                  exit_code::configuration, wish.json, io);
  if (!*plan)
    return std::nullopt;
  if (!wish.address.empty())
    return report({.code = "usage",
                   .what = "--http is for one run, and this is a sweep",
                   .hint = "the folder of each of its runs has a status"},
                  exit_code::usage, wish.json, io);
  return make_runs(**plan, wish, make_model, io);
}

} // namespace troupe::node
