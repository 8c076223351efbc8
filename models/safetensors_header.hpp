#pragma once

// The header of a safetensors file, which comes from outside: eight bytes that
// say how long it is, and JSON that says of each tensor its type, its shape and
// where its values lie behind the header. Which types are read is an argument.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "models/objective.hpp"

namespace troupe::models {

/// The key of what belongs to no tensor.
inline constexpr const char* metadata_key = "__metadata__";

/// A type of values, as headers call it.
struct header_type {
  std::string_view name;
  std::uint64_t bytes = 0; ///< Of one value.
};

/// What a reader takes.
struct header_types {
  std::span<const header_type> all;
  std::string_view would_do; ///< As errors name those that are of use.
};

/// A tensor and the bytes that it claims, from where values begin.
struct header_claim {
  tensor_spec tensor;
  std::size_t type = 0; ///< Its place among the types.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct safetensors_header {
  std::vector<header_claim> claims; ///< One behind the other, without gaps.
  std::map<std::string, std::string> metadata;
};

/// Bytes before the header's text.
inline constexpr std::size_t header_text_at = sizeof(std::uint64_t);

/// The length of the header's text, by the first bytes of a file of so many.
/// Returns `invalid_data`, with `origin`, where no such header is read.
[[nodiscard]] result<std::size_t>
header_length(std::span<const std::byte> first, std::uint64_t file_bytes,
              std::string_view origin);

/// Returns `invalid_data`, with `origin`, unless its tensors are of these types
/// and fill so many bytes of values without lying over one another.
[[nodiscard]] result<safetensors_header> parse_header(std::string_view text,
                                                      std::uint64_t value_bytes,
                                                      const header_types& types,
                                                      std::string_view origin);

/// A file that is there as a whole.
struct safetensors_parts {
  safetensors_header header;
  std::span<const std::byte> values;
};

[[nodiscard]] result<safetensors_parts>
take_apart(std::span<const std::byte> bytes, const header_types& types,
           std::string_view origin);

} // namespace troupe::models
