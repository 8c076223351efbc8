#include "node/run/heads.hpp"

#include <algorithm>

namespace troupe::node {

std::map<block_id, shared_values> values_in(const heads& lines) {
  std::map<block_id, shared_values> values;
  for (const auto& [line, head] : lines)
    for (const auto& block : head.blocks)
      values[block.block] = block.values;
  return values;
}

// Rounds count as a director counts them that begins again.
progress_report beginning_of(const actors::stored_node& found, bool offers) {
  progress_report x;
  for (const auto& [line, own] : found.lines)
    x.lines[line] = {.line = line,
                     .head = own.head,
                     .round = own.round,
                     .blocks = own.blocks,
                     .merged = {}};
  const auto now = found.round.round.value;
  const auto over = now > 0 ? now - 1 : 0;
  x.rounds = offers ? std::min(over, found.fruitful) : over;
  x.updates = found.updates;
  return x;
}

policies::visit_windows merged_in(const actors::stored_node& found) {
  policies::visit_windows out;
  for (const auto& [line, own] : found.lines)
    policies::insert_all(out, own.merged);
  return out;
}

} // namespace troupe::node
