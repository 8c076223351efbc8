#include "node/run/pages_of_run.hpp"

#include "node/report/page.hpp"
#include "node/report/trace.hpp"

namespace troupe::node {

void write_pages(run_folder& of, const experiment& x) {
  if (const auto page = write_report(of.path()); !page)
    of.log("no report.html: " + page.error().context);
  if (!x.events)
    return;
  if (const auto trace = write_trace(of.path()); !trace)
    of.log("no trace.json: " + trace.error().context);
}

} // namespace troupe::node
