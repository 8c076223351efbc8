#pragma once

#include <cstddef>
#include <span>

namespace troupe::models {

/// Tokens of a row, both ends among them. Place 0 alone is no answer.
struct token_span {
  std::size_t first = 0, last = 0;

  friend bool operator==(const token_span&, const token_span&) = default;

  /// An answer that is not within the row: no span of it is right.
  static constexpr token_span beyond() noexcept {
    return {1, 0};
  }

  bool is_none() const noexcept {
    return first == 0 && last == 0;
  }

  bool is_beyond() const noexcept {
    return last < first;
  }

  std::size_t size() const noexcept {
    return last - first + 1;
  }
};

/// Of the tokens that both have; of no answer 1 or 0, of one beyond the row 0.
double f1_of(const token_span& said, const token_span& is) noexcept;

/// The span of at most so many tokens whose ends have most together; of equals
/// the first. @param ends of each token that a span begins and that it ends
/// there; @pre there is one
token_span best_span(std::span<const float> ends, std::size_t most) noexcept;

} // namespace troupe::models
