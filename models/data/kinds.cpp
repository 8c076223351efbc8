#include "models/data/kinds.hpp"

#include <algorithm>
#include <cstdint>

namespace troupe::models {

namespace {

bool has_domains(const dataset& data) {
  return !data.train.domains.empty();
}

std::size_t kind_of(const dataset& data, const example_set& from,
                    std::size_t row) {
  return has_domains(data) ? std::size_t{from.domains[row]}
                           : static_cast<std::size_t>(from.labels[row]);
}

} // namespace

std::string_view name_of_kinds(const dataset& data) {
  return has_domains(data) ? "domains" : "labels";
}

std::size_t count_kinds(const dataset& data) {
  if (!has_domains(data))
    return static_cast<std::size_t>(data.classes);
  std::size_t last = 0;
  for (const auto* set : {&data.train, &data.test})
    for (const auto domain : set->domains)
      last = std::max(last, std::size_t{domain});
  return last + 1;
}

row_lists rows_by_kind(const dataset& data, const example_set& from) {
  row_lists rows(count_kinds(data));
  for (std::size_t i = 0; i < from.size; ++i)
    rows[kind_of(data, from, i)].push_back(static_cast<std::uint32_t>(i));
  return rows;
}

label_counts kind_table(const dataset& data, const partition& parts,
                        split part) {
  const auto& from = part == split::train ? data.train : data.test;
  const auto kinds = count_kinds(data);
  label_counts table;
  for (const auto& rows : part == split::train ? parts.train : parts.test) {
    auto& counts = table.emplace_back(kinds, 0);
    for (const auto row : rows)
      ++counts[kind_of(data, from, row)];
  }
  return table;
}

} // namespace troupe::models
