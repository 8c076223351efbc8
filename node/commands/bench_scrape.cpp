#include "node/commands/bench_scrape.hpp"

#include <cstdint>
#include <string>

#include "actors/metrics/exposition.hpp"
#include "core/clock.hpp"

namespace troupe::node {

namespace {

constexpr std::uint64_t clients = 10'000;
constexpr std::uint64_t experts = 99;
constexpr double seconds_max = 0.02;
constexpr double bytes_max = 500'000;

actors::line_status busy_line() {
  actors::line_status x;
  x.head = {123'456};
  x.pending = 17;
  x.needed = 64;
  x.pending_max = 1024;
  for (std::uint64_t behind = 0; behind < 300; ++behind)
    x.staleness.add(behind);
  x.merged_bytes = 987'654'321'987;
  return x;
}

actors::seen_run large_run() {
  actors::seen_run x;
  x.name = "large";
  x.id = "20261122-002324-large";
  x.method = "any";
  x.mode = "fedbuff";
  x.clock = "wall";
  x.course.emplace().known = clients;
  x.door.emplace().sessions = clients;
  x.socket.emplace().connected = clients;
  for (std::uint64_t i = 0; i <= experts; ++i) {
    const line_id line{i + 1};
    x.line_names[line] = i == 0 ? "model" : "adapter." + std::to_string(i - 1);
    x.heads[x.line_names[line]] = 123'456;
    x.lines[line] = busy_line();
    x.readers[line] = 3;
    if (i > 0)
      x.load.experts[line] = {.visits = 12'345.678, .rows = 1'234'567.89};
  }
  return x;
}

} // namespace

std::vector<figure> scrape_figures() {
  return {{.name = "scrape",
           .unit = "ms",
           .compared_with = "20 ms",
           .bar = 1,
           .repetitions = 9,
           .once = []() -> result<sample> {
             const auto x = large_run();
             const auto began = process_cpu_time();
             (void)actors::exposition_of(x);
             return sample{seconds(process_cpu_time() - began), seconds_max};
           }},
          {.name = "scrape_bytes",
           .unit = "bytes",
           .compared_with = "500 KB",
           .bar = 1,
           .repetitions = 1,
           .once = []() -> result<sample> {
             const auto text = actors::exposition_of(large_run());
             return sample{static_cast<double>(text.size()), bytes_max};
           }}};
}

} // namespace troupe::node
