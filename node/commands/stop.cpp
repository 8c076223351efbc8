#include "node/commands/stop.hpp"

#include <filesystem>
#include <ostream>
#include <system_error>

#include "core/json.hpp"
#include "core/text.hpp"
#include "node/commands/command_line.hpp"
#include "node/commands/folder_of_run.hpp"
#include "node/run/control.hpp"

namespace troupe::node {

exit_code stop_command(arguments args, streams io) {
  command_line line{
    {"stop",
     "Ends a run that is served, in order: what is under way is merged or "
     "withdrawn, clients hear that it is over, and its results are written.",
     "stop runs/20261121-113226-quickstart"}};
  std::string folder;
  line.add("RUN", &folder, "the run's folder", {.required = true});
  if (const auto end = line.parse(args, io))
    return *end;
  std::error_code failed;
  if (!std::filesystem::exists(std::filesystem::path{folder} / "config.toml",
                               failed)
      && !failed)
    return report({.code = "usage",
                   .what = in_quotes(folder) + " is not the folder of a run",
                   .hint = "troupe serve says which folder it writes"},
                  exit_code::usage, line.json(), io);
  if (failed)
    return report({.code = "storage_failure",
                   .what = "cannot look into " + in_quotes(folder),
                   .why = failed.message()},
                  exit_code::failed, line.json(), io);
  const auto found = ask_to_stop(folder, [&] {
    if (!line.json())
      io.err << "asking for the end, and waiting for it" << std::endl;
  });
  if (!found.reached)
    return report(nobody_serves(folder), exit_code::unreachable, line.json(),
                  io);
  if (!found.ended)
    return report({.code = "failed",
                   .what = "the server ended without a word on how",
                   .hint = folder + "/logs say more"},
                  exit_code::failed, line.json(), io);
  if (line.json())
    io.out << json{{"success", true}, {"reason", found.text}}.dump(2) << '\n';
  else
    io.out << "the run has ended: " << printable(found.text) << '\n';
  return exit_code::ok;
}

} // namespace troupe::node
