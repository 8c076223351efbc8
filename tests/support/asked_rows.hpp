#pragma once

// Rows that are a rule's, and a tiny model for what they are asked.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "models/data/text_task.hpp"
#include "models/language/headed_base.hpp"
#include "tests/support/listed_rows.hpp"

namespace troupe::test {

/// What says what a row is stands over an encoder.
inline bool asks_a_head(models::text_task x) {
  return x == models::text_task::classify || x == models::text_task::span;
}

inline std::shared_ptr<const models::language_base>
base_for(models::text_task task) {
  if (!asks_a_head(task))
    return base_by_rule(tiny_spec(tiny_gpt2));
  const auto head = task == models::text_task::classify
                      ? models::row_head{models::head_kind::classes, 3}
                      : models::row_head{models::head_kind::ends, 2};
  return models::with_head(base_by_rule(tiny_spec(tiny_bert)), head, 3);
}

/// Of six tokens, each with the next one; or of four to six with a class or two
/// ends.
inline listed_rows::row row_for(models::text_task task, std::uint32_t number) {
  listed_rows::row x;
  for (std::uint32_t j = 0; j <= 6; ++j) {
    const auto id =
      static_cast<std::int32_t>((number * number + 3 * j * (number + 1)) % 13);
    if (j < 6)
      x.ids.push_back(id);
    if (j > 0)
      x.targets.push_back(id);
  }
  if (task == models::text_task::describe)
    std::fill_n(x.targets.begin(), 2, -1); // They stand before the text.
  if (!asks_a_head(task))
    return x;
  const auto kind = static_cast<std::int32_t>(number % 3);
  x.ids.resize(4 + number % 3);
  x.targets = {kind};
  if (task == models::text_task::span)
    x.targets.push_back(kind + static_cast<std::int32_t>(number % 2));
  return x;
}

inline std::shared_ptr<const listed_rows> rows_for(models::text_task task,
                                                   std::uint32_t count) {
  std::vector<listed_rows::row> all;
  for (std::uint32_t i = 0; i < count; ++i)
    all.push_back(row_for(task, i));
  return std::make_shared<const listed_rows>(6, 13, std::move(all));
}

} // namespace troupe::test
