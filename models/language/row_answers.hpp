#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "models/language/token_span.hpp"

namespace troupe::models {

/// The side of rows with questions that knows answers as texts: of the test
/// set, also of later windows, from several threads.
class row_answers {
public:
  virtual ~row_answers() = default;

  /// What such tokens say; "": there is no answer.
  virtual std::string said(std::uint32_t row, const token_span& x) const = 0;

  /// Those that would do, one at least; "" as above.
  virtual std::span<const std::string> meant(std::uint32_t row) const = 0;
};

} // namespace troupe::models
