#include "models/language/row_set.hpp"

#include "core/assert.hpp"

namespace troupe::models {

void row_set::add(const std::vector<made_row>& windows, std::uint32_t label) {
  TROUPE_ASSERT(!windows.empty() && texts == 0);
  const auto text = static_cast<std::uint32_t>(rows.size());
  for (const auto& x : windows) {
    auto& to = rows.size() == text ? rows : later;
    to.push_back({.begin = ids.size(),
                  .size = x.ids.size(),
                  .label = label,
                  .first = x.first,
                  .last = x.last,
                  .text = text,
                  .skipped = x.skipped,
                  .is_cut = x.is_cut});
    ids.insert(ids.end(), x.ids.begin(), x.ids.end());
  }
  const auto count = static_cast<std::uint32_t>(windows.size() - 1);
  rows.back().later = {
    .first = static_cast<std::uint32_t>(later.size()) - count, .count = count};
}

void row_set::close() {
  texts = rows.size();
  for (auto& x : rows)
    x.later.first += static_cast<std::uint32_t>(texts);
  rows.insert(rows.end(), later.begin(), later.end());
  later.clear();
}

} // namespace troupe::models
