#include "actors/metrics/status.hpp"

#include <algorithm>

namespace troupe::actors {

void staleness_counts::add(std::uint64_t versions) {
  const auto bucket = std::ranges::lower_bound(staleness_bounds, versions);
  ++buckets[static_cast<std::size_t>(bucket - staleness_bounds.begin())];
  sum += versions;
}

void staleness_counts::add(const staleness_counts& x) {
  for (std::size_t i = 0; i < buckets.size(); ++i)
    buckets[i] += x.buckets[i];
  sum += x.sum;
}

// Each client is in one state, and together they are all that are known.
std::uint64_t course_status::waiting() const {
  return here - std::min(here, at_work + free);
}

std::uint64_t course_status::away() const {
  return known - std::min(known, here + visits_lost);
}

void line_status::add(const line_status& x) {
  head = {head.value + x.head.value};
  pending += x.pending;
  needed += x.needed;
  pending_max += x.pending_max;
  for (std::size_t i = 0; i < answers.size(); ++i)
    answers[i] += x.answers[i];
  staleness.add(x.staleness);
  waits.add(x.waits);
  buffered.add(x.buffered);
  merges.add(x.merges);
  commits.add(x.commits);
  merged_bytes += x.merged_bytes;
  mailbox += x.mailbox;
  if (failure.empty())
    failure = x.failure;
  if (unkept.empty())
    unkept = x.unkept;
}

} // namespace troupe::actors
