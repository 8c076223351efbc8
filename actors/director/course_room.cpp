// What offers under way and offers that wait may take.

#include <numeric>

#include "actors/director/course.hpp"

namespace troupe::actors {

// What was ended may have been on its way to its line.
bool course::note_kept(const messages::part_taken& x, actions& out) {
  const auto bytes = x.on_disk ? 0 : bytes_of(x.line);
  if (pending_.try_emplace({x.visit, x.line}, bytes).second)
    pending_bytes_ += bytes;
  const bool is_void = policies::state_of(voided_, x.visit)
                       == policies::visit_window::state::merged;
  if (!is_void || is_on_a_list(x.visit))
    return true;
  out.push_back(messages::visit_dropped{x.visit});
  return false;
}

void course::note_gone(visit_id x, line_id line) {
  if (const auto part = pending_.extract({x, line}))
    pending_bytes_ -= part.mapped();
}

std::uint64_t course::bytes_of(line_id line) const {
  const auto found = options_.line_bytes.find(line);
  return found == options_.line_bytes.end() ? 0 : found->second;
}

// A visit may offer to all lines. Nobody knows when those come back that fell
// silent: they would hold their room for ever.
std::uint64_t course::bytes_held() const {
  const auto visit = std::accumulate(
    options_.line_bytes.begin(), options_.line_bytes.end(), std::uint64_t{0},
    [](std::uint64_t sum, const auto& x) { return sum + x.second; });
  return pending_bytes_ + awaited() * visit;
}

bool course::has_room() const {
  return bytes_held() < options_.bytes_max;
}

} // namespace troupe::actors
