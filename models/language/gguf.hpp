#pragma once

// The header of a GGUF file: metadata by key, then names, extents and places of
// tensors. Their values follow, and are not looked at here.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/result.hpp"
#include "models/language/stored_type.hpp"

namespace troupe::models {

/// A value of a GGUF file's metadata. Lists of numbers are doubles or whole
/// numbers, and so are those of bools.
using gguf_value = std::variant<std::int64_t, std::uint64_t, double, bool,
                                std::string, std::vector<std::string>,
                                std::vector<double>, std::vector<std::int64_t>>;

struct gguf_tensor {
  std::string name;
  /// Outermost first: the other way round than in the file.
  std::vector<std::int64_t> shape;
  stored_type type = stored_type::f32;
  std::uint64_t begin = 0; ///< In the file.
  std::uint64_t bytes = 0;
};

struct gguf_header {
  std::uint32_t version = 0;
  std::map<std::string, gguf_value, std::less<>> values;
  std::vector<gguf_tensor> tensors; ///< But for those of whole numbers.

  // Null, or nothing: it is not there, or of another kind.

  const std::string* text(std::string_view key) const noexcept;
  std::optional<double> number(std::string_view key) const noexcept;
  std::optional<bool> flag(std::string_view key) const noexcept;
  const std::vector<std::string>* texts(std::string_view key) const noexcept;
};

/// Versions 2 and 3, little-endian. Returns `invalid_data`, with `origin` and
/// the byte where it happens, unless all tensors lie within the bytes and none
/// over another. Allocates some tens of times the bytes at most.
[[nodiscard]] result<gguf_header> parse_gguf(std::span<const std::byte> bytes,
                                             std::string_view origin);

} // namespace troupe::models
