#pragma once

#include <string>

namespace troupe::node {

/// What a run waits for, as people read it.
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
