#include "node/commands/version.hpp"

#include <ostream>

#include "core/json.hpp"
#include "core/program_version.hpp"
#include "node/commands/command_line.hpp"

namespace troupe::node {

exit_code version_command(arguments args, streams io) {
  command_line line{{"version", "Says which troupe this is.", "version"}};
  if (const auto end = line.parse(args, io))
    return *end;
  if (line.json())
    io.out << json{{"success", true},
                   {"version", program_version()},
                   {"compiler", "g++ " __VERSION__}}
                .dump(2)
           << '\n';
  else
    io.out << "troupe " << program_version()
           << " (g++ " __VERSION__ ", C++20)\n";
  return exit_code::ok;
}

} // namespace troupe::node
