#pragma once

// Rows of descriptions as who writes them is asked: what is described once, and
// beside it all texts that would do.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "models/language/labelled_rows.hpp"
#include "models/language/tokenizer.hpp"

namespace troupe::models {

struct description {
  std::vector<token_id> prompt; ///< What a text goes on from; one at least.
  std::vector<std::string> meant = {}; ///< The texts of rows that begin so.
  std::size_t cut = 0; ///< Of these, those that go on beyond the context.
};

/// What ends a text that is described by such rows; nothing: none ends.
std::optional<token_id> end_of_descriptions(const tokenizer& by);

/// In the order of the rows. Returns `invalid_data` where a token is none of
/// the tokenizer's. @pre rows are descriptions, and `by` has made them
[[nodiscard]] result<std::vector<description>>
descriptions_of(const labelled_rows& from, split part,
                std::span<const std::uint32_t> rows, const tokenizer& by);

} // namespace troupe::models
