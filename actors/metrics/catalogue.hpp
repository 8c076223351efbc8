#pragma once

// Every metric there is. What `/metrics` says is looked up here, and
// docs/metrics.md has this table.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::actors {

enum class metric_type : std::uint8_t { counter, gauge, summary, histogram };

/// Which processes have a metric: `troupe run`, `serve`, `join`.
enum class metric_home : std::uint8_t {
  all,
  servers,   ///< run and serve: those that have the run.
  connected, ///< serve and join: those that have a socket.
  serve,
  join,
};

struct metric_label {
  std::string_view name;
  /// All that it can be; such are there from the start, with 0. Empty: others.
  std::vector<std::string_view> values = {};
};

struct metric {
  std::string_view name;
  metric_type type;
  std::string_view unit;
  metric_home home;
  std::vector<metric_label> labels;
  std::string_view help;
};

/// In the order in which they are written, but for those of `connected`, which
/// come last.
const std::vector<metric>& all_metrics();

/// @pre there is one of this name
const metric& metric_of(std::string_view name);

/// Whether it is one of those of which `run`, `serve` or `join` have any.
constexpr bool is_of_run(metric_home x) noexcept {
  return x == metric_home::all || x == metric_home::servers;
}

constexpr bool is_of_serve(metric_home x) noexcept {
  return x != metric_home::join;
}

constexpr bool is_of_join(metric_home x) noexcept {
  return x == metric_home::all || x == metric_home::connected
         || x == metric_home::join;
}

/// The table as docs/metrics.md has it.
std::string metrics_as_markdown();

} // namespace troupe::actors
