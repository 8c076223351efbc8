#include "node/commands/trace.hpp"

#include <ostream>

#include "core/json.hpp"
#include "node/commands/command_line.hpp"
#include "node/report/trace.hpp"

namespace troupe::node {

exit_code trace_command(arguments args, streams io) {
  command_line line{{"trace",
                     "Makes a trace of a run's visits and versions, for "
                     "Perfetto or chrome://tracing.",
                     "trace runs/20261121-113226-quickstart"}};
  std::string folder;
  line.add("RUN", &folder, "a run's folder", {.required = true});
  std::string to;
  line.add("--out", &to, "where the trace goes, in place of the folder");
  trace_options opts;
  line.add("--from", &opts.from, "seconds of the run's clock");
  line.add("--to", &opts.to, "seconds of the run's clock");
  line.add("--visits", &opts.visits_max, "show the last so many",
           {.above_zero = true, .shows_default = true});
  if (const auto end = line.parse(args, io))
    return *end;
  const auto made = write_trace(folder, to, opts);
  if (!made)
    return report(made.error(), line.json(), io);
  if (line.json()) {
    io.out << json{{"success", true},
                   {"trace", made->path.string()},
                   {"visits", made->visits},
                   {"left_out", made->left_out},
                   {"unreadable", made->unreadable}}
                .dump(2)
           << '\n';
    return exit_code::ok;
  }
  if (made->left_out > 0)
    io.err
      << "the last " << made->visits << " visits; " << made->left_out
      << " came before them: --visits shows more, --from and --to a part\n";
  if (made->unreadable > 0)
    io.err << made->unreadable << " lines of events.jsonl cannot be read\n";
  io.out << made->path.string() << '\n';
  return exit_code::ok;
}

} // namespace troupe::node
