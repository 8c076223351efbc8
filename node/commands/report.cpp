#include "node/commands/report.hpp"

#include <ostream>

#include "core/json.hpp"
#include "node/commands/command_line.hpp"
#include "node/report/page.hpp"

namespace troupe::node {

exit_code report_command(arguments args, streams io) {
  command_line line{{"report", "Makes the page that shows a run: report.html.",
                     "report runs/20261121-113226-quickstart"}};
  std::string folder;
  line.add("RUN", &folder, "a run's folder", {.required = true});
  std::string to;
  line.add("--out", &to, "where the page goes, in place of the folder");
  if (const auto end = line.parse(args, io))
    return *end;
  const auto made = write_report(folder, to);
  if (!made)
    return report(made.error(), line.json(), io);
  if (line.json())
    io.out << json{{"success", true}, {"report", made->string()}}.dump(2)
           << '\n';
  else
    io.out << made->string() << '\n';
  return exit_code::ok;
}

} // namespace troupe::node
