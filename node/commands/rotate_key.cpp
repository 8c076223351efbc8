#include "node/commands/rotate_key.hpp"

#include <ostream>
#include <string>

#include "core/json.hpp"
#include "core/text.hpp"
#include "node/commands/command_line.hpp"
#include "node/commands/folder_of_run.hpp"
#include "node/keys/permit.hpp"
#include "node/run/control.hpp"

namespace troupe::node {

exit_code rotate_key(arguments args, streams io) {
  command_line line{{"keys rotate",
                     "Changes the key that a served run signs its invitations "
                     "with; those that it signed before are good for a while.",
                     "keys rotate runs/20261121-113226-quickstart --valid 1h"}};
  std::string folder;
  std::string valid = "1h";
  line.add("RUN", &folder, "the folder of a run that is served",
           {.required = true});
  line.add("--valid", &valid,
           "for how long those of before are good, as 90s, 15m, 1h, 30d",
           {.shows_default = true});
  if (const auto end = line.parse(args, io))
    return *end;
  const auto for_ms = duration_in(valid);
  if (!for_ms)
    return report(
      {.code = "usage",
       .what = "--valid is as 90s, 15m, 1h, 30d, and not " + in_quotes(valid)},
      exit_code::usage, line.json(), io);
  const auto wrong = ask_to_rotate(folder, *for_ms);
  if (!wrong)
    return report(nobody_serves(folder), exit_code::unreachable, line.json(),
                  io);
  if (!wrong->empty())
    return report({.code = "failed",
                   .what = "the key was not changed",
                   .why = printable(*wrong)},
                  exit_code::failed, line.json(), io);
  if (line.json())
    io.out << json{{"success", true}, {"valid", valid}}.dump(2) << '\n';
  else
    io.out << "invitations have another key; those of before are good for "
           << valid << '\n';
  return exit_code::ok;
}

} // namespace troupe::node
