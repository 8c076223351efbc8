#pragma once

// Bytes of a tensor in the order in which they are used: some files have rows,
// or rows and columns, in another.

#include <cstddef>
#include <span>
#include <vector>

#include "models/language/names.hpp"

namespace troupe::models {

struct turned_matrix {
  std::size_t rows = 0, columns = 0; ///< As it is to be.
  std::size_t value_bytes = 0;
};

/// [columns x rows] as [rows x columns].
std::vector<std::byte> transposed(std::span<const std::byte> from,
                                  const turned_matrix& as);

struct paired_rows {
  std::size_t heads = 0;
  std::size_t rows = 0; ///< Of all heads.
};

/// Row 2 i + j of each head becomes row j (d / 2) + i of its d.
std::vector<std::byte> in_halves(std::span<const std::byte> from,
                                 const paired_rows& as);

/// What a file has, or a copy where it has it in another order.
class rearranged_bytes {
public:
  /// @pre values of what is transposed do not lie in blocks
  rearranged_bytes(const stored_tensor& x, const tensor_source& source);

  std::span<const std::byte> bytes() const noexcept {
    return is_copy_ ? std::span<const std::byte>{copy_} : stored_;
  }

  bool is_copy() const noexcept {
    return is_copy_;
  }

private:
  std::span<const std::byte> stored_;
  std::vector<std::byte> copy_;
  bool is_copy_ = false;
};

} // namespace troupe::models
