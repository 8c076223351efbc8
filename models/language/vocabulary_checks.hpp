#pragma once

// What tokens of a file must be, whatever the model. Bounds are such that no
// file takes much memory, or time that its size does not say.

#include <cstddef>
#include <span>
#include <string_view>

#include "core/result.hpp"
#include "models/language/token_pipeline.hpp"

namespace troupe::models {

/// Returns `invalid_data` with `origin`, as the others do.
[[nodiscard]] result<void> check_count_of_tokens(std::size_t tokens,
                                                 std::string_view origin);

[[nodiscard]] result<void> check_count_of_merges(std::size_t merges,
                                                 std::string_view origin);

/// @param bytes of all tokens
[[nodiscard]] result<void> check_bytes_of_tokens(std::size_t bytes,
                                                 std::string_view origin);

/// Of a token that is looked for letter by letter.
[[nodiscard]] result<void> check_token(std::size_t id, std::string_view text,
                                       std::string_view origin);

/// A text has one id, and is short.
[[nodiscard]] result<void> check_added_texts(std::span<const added_token> added,
                                             std::string_view origin);

} // namespace troupe::models
