#include "actors/record/begin_lines.hpp"

namespace troupe::actors {

result<std::map<std::string, models::digest>>
begin_lines(store& books, const models::layout& blocks,
            const std::map<block_id, shared_values>& initial) {
  std::map<std::string, models::digest> digests;
  for (const auto& line : blocks.lines) {
    std::vector<messages::merged_block> first;
    for (const auto id : line.blocks) {
      const auto* block = blocks.find(id);
      const auto& values = initial.at(id);
      if (values->size() != block->size)
        return fail(errc::invalid_argument,
                    "block '" + block->name + "' has "
                      + std::to_string(block->size) + " values, found "
                      + std::to_string(values->size()) + " to begin with");
      first.push_back({.block = id,
                       .values = values,
                       .moments = {},
                       .digest = models::digest_of(*block, *values)});
      digests[block->name] = first.back().digest;
    }
    if (auto ok = books.begin(line.id, first); !ok)
      return tl::make_unexpected(ok.error());
  }
  return digests;
}

} // namespace troupe::actors
