#include "node/commands/measured_run.hpp"

#include <string>

#include "actors/record/begin_lines.hpp"
#include "core/clock.hpp"

namespace troupe::node {

std::shared_ptr<chronicle> quiet_chronicle(const experiment& x,
                                           const workload& work) {
  return std::make_shared<chronicle>(
    chronicle::options{.blocks = work.blocks,
                       .clients = x.clients.clients,
                       .has_labels = false,
                       .metrics = [](const std::string&) {},
                       .show = [](const progress_report&) {}});
}

result<run_cost> measure(const federation& f) {
  if (auto ok = actors::begin_lines(*f.books, *f.work.blocks, f.work.initial);
      !ok)
    return tl::make_unexpected(ok.error());
  const auto wall = steady_now();
  const auto cpu = process_cpu_time();
  if (auto done = run_federation(f); !done)
    return tl::make_unexpected(done.error());
  return run_cost{.wall_seconds = seconds(steady_now() - wall),
                  .cpu_seconds = seconds(process_cpu_time() - cpu),
                  .visits = f.watching->report().visits};
}

} // namespace troupe::node
