#include "models/data/shared_facts.hpp"

#include <algorithm>
#include <set>

#include "models/data/kinds.hpp"

namespace troupe::models {

namespace {

kind_set kinds_in(const std::vector<std::uint64_t>& counts) {
  kind_set out;
  for (std::size_t kind = 0; kind < counts.size(); ++kind)
    if (counts[kind] > 0)
      out.push_back(static_cast<std::uint32_t>(kind));
  return out;
}

std::uint64_t count_shared(const dataset& data, const partition& parts) {
  std::vector<std::uint32_t> holders(data.train.size);
  for (const auto& rows : parts.train)
    for (const auto row : rows)
      ++holders[row];
  return static_cast<std::uint64_t>(
    std::ranges::count_if(holders, [](auto n) { return n > 1; }));
}

} // namespace

shared_facts facts_of(const dataset& data, const partition& parts,
                      std::size_t anchors) {
  shared_facts out;
  out.shared_rows = count_shared(data, parts);
  const auto train = kind_table(data, parts);
  const auto test = kind_table(data, parts, split::test);
  const auto training = train.size() - parts.held_out;
  std::set<kind_set> trained, withheld;
  for (std::size_t k = 0; k < train.size(); ++k) {
    out.kinds.push_back(kinds_in(k < training ? train[k] : test[k]));
    (k < training ? trained : withheld).insert(out.kinds.back());
  }
  for (const auto& x : withheld)
    out.seen += trained.count(x);
  out.withheld.assign(withheld.begin(), withheld.end());
  std::set<std::uint32_t> covered;
  for (std::size_t k = 0; k < anchors; ++k)
    for (const auto kind : out.kinds[k])
      if (!covered.insert(kind).second)
        out.anchors_disjoint = false;
  const auto rows = rows_by_kind(data, data.train);
  for (std::size_t kind = 0; kind < rows.size(); ++kind)
    if (!rows[kind].empty()
        && !covered.contains(static_cast<std::uint32_t>(kind)))
      out.anchors_cover = false;
  return out;
}

} // namespace troupe::models
