#include "node/commands/run.hpp"

#include <iostream>
#include <ostream>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "core/json.hpp"
#include "core/text.hpp"
#include "node/commands/command_line.hpp"
#include "node/commands/sweep.hpp"
#include "node/commands/watching_options.hpp"
#include "node/config/config.hpp"
#include "node/run/interrupt.hpp"
#include "node/run/run.hpp"
#include "node/watch/pages.hpp"

namespace troupe::node {

namespace {

std::string versions_of(const run_summary& x) {
  std::string text;
  for (const auto& [block, head] : x.heads)
    text += (text.empty() ? "" : ", ") + block + " at version "
            + std::to_string(head);
  return text;
}

} // namespace

bool is_terminal(const std::ostream& x) {
  return &x == &std::cerr && isatty(STDERR_FILENO) == 1;
}

exit_code conclude(const run_summary& x, bool json, streams io,
                   exit_code interrupted) {
  if (x.failed && !x.interrupted)
    return report({.code = "run_failed",
                   .what = "the run failed: " + x.reason,
                   .why = "it ended with " + versions_of(x),
                   .hint = "what happened until then is in " + x.folder},
                  exit_code::failed, json, io);
  if (x.interrupted)
    return report(
      {.code = "interrupted",
       .what = "the run was interrupted",
       .why =
         (x.failed ? x.reason + "; it ended with " : "it ended in order with ")
         + versions_of(x),
       .hint =
         "model.safetensors and all records are in " + x.folder
         + (x.goes_on ? x.clock == "wall"
                          ? "; troupe serve " + x.folder + " goes on"
                          : "; troupe run --resume " + x.folder + " goes on"
                      : "")},
      interrupted, json, io);
  if (json)
    io.out << to_json(x).dump(2) << std::endl;
  else
    io.out << printable(to_text(x)) << std::flush;
  return exit_code::ok;
}

namespace {

/// What the command line says beside the configuration.
struct run_wishes {
  std::string folder;
  std::string resume;
  watching_options watch;
  bool alone = false;

  void add_to(command_line& line) {
    line.add_config(false);
    line.add("--folder", &folder, "where the run's folder is made");
    line.add("--resume", &resume,
             "the folder of a run, or of a sweep, that did not come to its "
             "end",
             {.excludes = {"FILE", "--set", "--folder"}});
    line.add("--alone", &alone,
             "make one run, also where the file asks for a [sweep]");
    watch.add_to(line);
  }
};

/// What options cannot be without others.
std::optional<exit_code> refused(const run_wishes& wish,
                                 const command_line& line, streams io) {
  if (line.file().empty() && wish.resume.empty())
    return report({.code = "usage",
                   .what = "FILE is required, or --resume FOLDER",
                   .hint = "troupe run --help shows an example"},
                  exit_code::usage, line.json(), io);
  return wish.watch.refused(line.json(), io);
}

} // namespace

exit_code run_command(const model_maker& make_model, const host_facts& known,
                      arguments args, streams io) {
  command_line line{{"run", "Runs a whole federation in this process.",
                     "run deploy/examples/quickstart.toml --set mode=sync"}};
  run_wishes wish;
  wish.add_to(line);
  if (const auto end = line.parse(args, io))
    return *end;
  if (const auto end = refused(wish, line, io))
    return *end;
  // Clients' own blocks are in the folder, too.
  umask(S_IRWXG | S_IRWXO);
  if (!wish.alone)
    if (const auto end = sweep_if_asked({.file = line.file(),
                                         .resume = wish.resume,
                                         .folder = wish.folder,
                                         .changes = line.overrides(),
                                         .address = wish.watch.address,
                                         .json = line.json()},
                                        make_model, io))
      return *end;
  const auto file =
    wish.resume.empty() ? line.file() : wish.resume + "/config.toml";
  auto loaded = load_config(file, line.overrides());
  if (!loaded)
    return report({.code = "invalid_config",
                   .what = "this configuration cannot be used",
                   .why = loaded.error().context},
                  exit_code::configuration, line.json(), io);
  if (!wish.folder.empty())
    loaded->x.folder = wish.folder;
  const auto board = std::make_shared<status_board>();
  const auto readers = std::make_shared<http::tally>();
  const auto door = wish.watch.open(pages_of(board, readers), readers, io);
  if (!door)
    return report(door.error(), line.json(), io);
  const interruption stop;
  const auto done =
    run(loaded->x, {.make_model = make_model,
                    .fingerprint = [&known] { return fingerprint_of(known); },
                    .progress = &io.err,
                    .terminal = is_terminal(io.err),
                    .stop = &stop.requested(),
                    .notes = std::move(loaded->notes),
                    .resume = wish.resume,
                    .board = board,
                    .http = *door ? (*door)->address() : ""});
  if (!done)
    return report(done.error(), line.json(), io);
  return conclude(*done, line.json(), io);
}

} // namespace troupe::node
