#pragma once

// A small text that people may edit: a title, lines of a word and a value in
// one order, and an end, so that half of one is none.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace troupe::node {

std::string write_lines(std::string_view title,
                        std::span<const char* const> words,
                        std::span<const std::string> values);

/// The values. An error says which line is not what it should be, and never
/// what it says: it may be a secret.
[[nodiscard]] result<std::vector<std::string>>
read_lines(std::string_view text, std::string_view title,
           std::span<const char* const> words);

} // namespace troupe::node
