#include "node/run/heads.hpp"

namespace troupe::node {

std::map<block_id, shared_values> values_in(const heads& lines) {
  std::map<block_id, shared_values> values;
  for (const auto& [line, head] : lines)
    for (const auto& block : head.blocks)
      values[block.block] = block.values;
  return values;
}

heads first_lines(const actors::stored_node& found) {
  heads lines;
  for (const auto& [line, x] : found.lines)
    lines[line] = {.line = line,
                   .head = x.head,
                   .round = x.round,
                   .blocks = x.blocks,
                   .merged = {}};
  return lines;
}

} // namespace troupe::node
