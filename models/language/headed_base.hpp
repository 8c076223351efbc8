#pragma once

// A base with a layer behind it that says what a row is, and not the next
// token. The layer is a part of the base: it has a place among its tensors, and
// whoever has another one has another content.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "models/language/base.hpp"

namespace troupe::models {

enum class head_kind : std::uint8_t {
  classes, ///< A logit of each class, of a whole row.
  ends,    ///< Two of each token: that a span begins there, and that it ends.
};

struct row_head {
  head_kind kind = head_kind::classes;
  std::uint32_t outputs = 2;

  friend bool operator==(const row_head&, const row_head&) = default;
};

/// The same base, and behind its tensors a matrix of outputs x width and their
/// biases. The matrix is normal with deviation 0.02, drawn by the seed, and the
/// biases are 0. @pre outputs > 0
[[nodiscard]] std::shared_ptr<const language_base>
with_head(std::shared_ptr<const language_base> base, row_head head,
          std::uint64_t seed);

/// Nothing: it has none.
std::optional<row_head> head_of(const language_base& x);

/// What is trained begins with these: a base's own values or, of one that is
/// made, those of this seed; a head's are of this seed in any case.
std::vector<float> first_values(const language_base& x, std::uint64_t seed);

} // namespace troupe::models
