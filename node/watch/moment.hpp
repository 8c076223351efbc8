#pragma once

// Words about waits and times, the same wherever they are read.

#include <cstdint>
#include <string>

namespace troupe::node {

/// 2026-11-21 16:02:11 UTC.
std::string moment_text(std::int64_t unix_ms);

std::string host_name();

struct waiting {
  std::string what;
  std::string ends;
  std::string since;
  double seconds = 0;
  bool over = false;
};

/// Three lines: what, since when, what ends it.
std::string waiting_text(const waiting& x);

} // namespace troupe::node
