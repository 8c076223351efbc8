#pragma once

// A cell of a table, with blanks around it or without.

#include <cstdint>
#include <optional>
#include <string_view>

namespace troupe::models {

std::string_view trimmed_cell(std::string_view x) noexcept;

/// The whole of it as a number, an infinite one or NaN included, or nothing.
/// What is too small for a double is 0 or next to it.
std::optional<double> decimal_in(std::string_view cell);

/// The same where it is finite as a float.
std::optional<float> finite_in(std::string_view cell);

std::optional<std::int64_t> integer_in(std::string_view cell);

} // namespace troupe::models
