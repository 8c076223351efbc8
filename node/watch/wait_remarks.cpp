#include "node/watch/wait_remarks.hpp"

#include <utility>

namespace troupe::node {

namespace {

/// Without a visit or a version, before a wait is told; and until it is again.
constexpr std::int64_t patience_ms = 10'000;
constexpr std::int64_t again_ms = 60'000;

constexpr const char* at_work =
  "at work   a visit, a merge, a commit or an evaluation takes longer than ten "
  "seconds; this is said once, and 'troupe why' says what the run is at";

} // namespace

std::string wait_remarks::look(const actors::wait& x, const moment& when) {
  const bool fails = x.code == "disk" || x.code == "merge";
  const bool idle = when.now_ms - when.progress_ms >= patience_ms;
  if (x.code == "busy" && !when.is_served)
    return idle && !std::exchange(work_said_, true) ? at_work : "";
  if (x.code == "nothing" || (!fails && !idle))
    return std::exchange(said_, {}).empty() ? "" : "it goes on";
  if (x.code == said_ && when.now_ms - said_ms_ < again_ms)
    return "";
  said_ = x.code;
  said_ms_ = when.now_ms;
  return "waiting   " + x.what + "\nuntil     " + x.ends;
}

} // namespace troupe::node
