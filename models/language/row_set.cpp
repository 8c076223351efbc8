#include "models/language/row_set.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

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
                  .is_cut = x.is_cut,
                  .second_from = x.second_from});
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

void row_set::say(const std::string& name,
                  std::map<std::string, digest>& to) const {
  const auto sum_of = [](const auto& xs) {
    return digest_of(std::as_bytes(std::span{xs}));
  };
  std::vector<std::uint64_t> numbers, types;
  for (const auto& x : rows) {
    for (const std::uint64_t n :
         {std::uint64_t{x.size}, std::uint64_t{x.label}, std::uint64_t{x.first},
          std::uint64_t{x.last}})
      numbers.push_back(n);
    types.push_back(x.second_from);
  }
  to[name + "/ids"] = sum_of(ids);
  to[name + "/rows"] = sum_of(numbers);
  // Rows of one type have the digest that they had before there were two.
  if (std::ranges::any_of(types, [](auto x) { return x > 0; }))
    to[name + "/types"] = sum_of(types);
}

} // namespace troupe::models
