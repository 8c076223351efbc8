#include "node/sweep/sweep_runs.hpp"

#include <cerrno>
#include <map>
#include <ostream>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.hpp"
#include "core/text.hpp"
#include "models/files.hpp"
#include "node/sweep/sweep_remark.hpp"

namespace troupe::node {

namespace {

namespace fs = std::filesystem;

fs::path part_of(const sweep_orders& x, const sweep_cell& cell,
                 const char* ending) {
  return x.folder / "cells" / (cell.name() + ending);
}

/// The process of a cell, or 0: it could not be started.
pid_t start(const sweep_orders& x, const sweep_cell& cell) {
  std::vector<std::string> words{
    x.program,  "run",  x.config,   "--alone",
    "--format", "json", "--folder", (x.folder / "runs" / cell.name()).string()};
  for (const auto& changes : {x.changes, cell.changes()})
    for (const auto& change : changes) {
      words.emplace_back("--set");
      words.push_back(change);
    }
  std::vector<char*> argv;
  for (auto& w : words)
    argv.push_back(w.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  constexpr auto how = O_WRONLY | O_CREAT | O_TRUNC;
  const auto out = part_of(x, cell, ".part");
  const auto err = part_of(x, cell, ".log");
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY,
                                   0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), how,
                                   0644);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err.c_str(), how,
                                   0644);
  pid_t pid = 0;
  const auto failed =
    posix_spawn(&pid, x.program.c_str(), &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  return failed == 0 ? pid : 0;
}

bool ended_well(int status) {
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Null where there is none.
json read_json(const fs::path& path) {
  const auto text = models::read_text(path, errc::invalid_data);
  return text ? json::parse(*text).value_or(json{}) : json{};
}

/// Else it is made again.
bool is_success(const json& x) {
  const auto* found = x.find("success");
  return found && found->flag().value_or(false);
}

/// Waits for any of them. Others' children are left alone.
pid_t wait_for_one(const std::map<pid_t, sweep_cell>& at_work, int& status) {
  for (;;) {
    for (const auto& [pid, cell] : at_work)
      if (waitpid(pid, &status, WNOHANG) == pid)
        return pid;
    usleep(20'000);
  }
}

} // namespace

fs::path result_of(const sweep_orders& x, const sweep_cell& cell) {
  return part_of(x, cell, ".json");
}

sweep_results found_results(const sweep_orders& x,
                            const std::vector<sweep_cell>& cells) {
  sweep_results found;
  for (const auto& cell : cells)
    if (auto result = read_json(result_of(x, cell)); is_success(result))
      found[cell.name()] = std::move(result);
  return found;
}

void run_cells(const sweep_orders& x, const std::vector<sweep_cell>& cells) {
  std::map<pid_t, sweep_cell> at_work;
  const auto before = found_results(x, cells);
  const auto began = steady_now();
  sweep_moment now{.done = before.size(), .all = cells.size()};
  const auto say = [&](const sweep_cell& cell, bool well) {
    ++now.done;
    ++now.here;
    now.seconds = seconds(steady_now() - began);
    if (x.progress != nullptr)
      *x.progress << "run " << now.done << "/" << now.all << "  "
                  << printable(cell.row->name()) << ", seed " << cell.seed
                  << (well ? come_to(read_json(result_of(x, cell)), x.metric)
                           : "  failed: " + part_of(x, cell, ".log").string())
                  << time_left(now) << std::endl;
  };
  const auto finish_one = [&] {
    int status = 0;
    const auto pid = wait_for_one(at_work, status);
    const auto cell = at_work.at(pid);
    at_work.erase(pid);
    const bool well = ended_well(status);
    if (well)
      fs::rename(part_of(x, cell, ".part"), result_of(x, cell));
    say(cell, well);
  };
  for (const auto& cell : cells) {
    if (before.contains(cell.name()))
      continue;
    while (at_work.size() >= x.at_once)
      finish_one();
    if (x.stop != nullptr && *x.stop)
      break;
    if (const auto pid = start(x, cell); pid > 0)
      at_work.emplace(pid, cell);
    else
      say(cell, false);
  }
  while (!at_work.empty())
    finish_one();
}

} // namespace troupe::node
