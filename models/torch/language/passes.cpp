#include "models/torch/language/passes.hpp"

#include <ATen/ATen.h>

#include <algorithm>

#include "core/assert.hpp"

namespace troupe::models {

language_pass read_pass(const token_rows& from, split part,
                        std::span<const std::uint32_t> rows) {
  TROUPE_ASSERT(!rows.empty());
  const auto context = from.context();
  std::vector<std::int32_t> said(context), wanted(context);
  const auto ids = at::zeros({static_cast<std::int64_t>(rows.size()),
                              static_cast<std::int64_t>(context)},
                             at::kLong);
  const auto there = at::zeros(ids.sizes(), at::kBool);
  auto* id = ids.data_ptr<std::int64_t>();
  auto* is_there = there.data_ptr<bool>();
  const auto types = from.types() > 1 ? at::zeros_like(ids) : at::Tensor{};
  auto* type = types.defined() ? types.data_ptr<std::int64_t>() : nullptr;
  std::vector<std::int64_t> places, targets;
  bool all_are = true;
  std::int64_t place = 0;
  for (const auto row : rows) {
    from.read(part, row, said, wanted);
    const auto second = from.second_from(part, row);
    for (std::size_t i = 0; i < context; ++i, ++place) {
      if (said[i] >= 0) {
        id[place] = said[i];
        is_there[place] = true;
        if (type != nullptr && second > 0 && i >= second)
          type[place] = 1;
      } else {
        all_are = false;
      }
      if (wanted[i] >= 0) {
        places.push_back(place);
        targets.push_back(wanted[i]);
      }
    }
  }
  return {
    .x = {.ids = ids, .there = all_are ? at::Tensor{} : there, .types = types},
    .places = at::tensor(places, at::kLong),
    .targets = at::tensor(targets, at::kLong)};
}

std::vector<language_pass> passes_of(const token_rows& from, split part,
                                     std::span<const std::uint32_t> rows,
                                     std::size_t rows_max) {
  TROUPE_ASSERT(rows_max > 0);
  std::vector<language_pass> passes;
  std::uint64_t first = 0;
  while (!rows.empty()) {
    const auto some = rows.first(std::min(rows.size(), rows_max));
    rows = rows.subspan(some.size());
    passes.push_back(read_pass(from, part, some));
    passes.back().first_row = first;
    first += some.size();
  }
  return passes;
}

std::int64_t targets_of(const std::vector<language_pass>& passes) {
  std::int64_t sum = 0;
  for (const auto& x : passes)
    sum += x.targets.numel();
  return sum;
}

} // namespace troupe::models
