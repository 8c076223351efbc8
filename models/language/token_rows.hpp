#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/objective.hpp"

namespace troupe::models {

class row_answers;

/// Rows that go on with the text of another, so many from the first on.
struct later_windows {
  std::uint32_t first = 0, count = 0;
};

/// Rows as a language model takes them. Nobody changes them; from several
/// threads.
class token_rows {
public:
  virtual ~token_rows() = default;

  virtual std::size_t context() const noexcept = 0;      ///< Tokens of a row.
  virtual std::uint32_t vocabulary() const noexcept = 0; ///< Ids are below.
  /// Of tokens, which two texts of one row tell apart: 1 or 2.
  virtual std::uint32_t types() const noexcept {
    return 1;
  }

  virtual std::size_t size(split part) const noexcept = 0; ///< Rows are below.

  /// Writes a row: ids, -1 for padding at its end, and of each place the id
  /// that it should foretell, or -1 for none. @pre both of context()
  virtual void read(split part, std::uint32_t row, std::span<std::int32_t> ids,
                    std::span<std::int32_t> targets) const = 0;

  /// From which place on tokens are of the second type; 0: none is. @pre there
  /// is such a row
  virtual std::size_t second_from(split, std::uint32_t) const {
    return 0;
  }

  /// Who is judged by a row is judged by these with it. @pre there is such a
  /// row
  virtual later_windows later_of(split, std::uint32_t) const {
    return {};
  }

  /// Null: rows have no questions, or nobody knows answers as texts.
  virtual const row_answers* answers() const noexcept {
    return nullptr;
  }
};

} // namespace troupe::models
