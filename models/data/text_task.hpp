#pragma once

#include <cstdint>

namespace troupe::models {

/// What is asked of a text.
enum class text_task : std::uint8_t {
  language, ///< The next token, of all of it.
  classify, ///< Which class it is of.
  span,     ///< Where in it a question is answered.
  describe, ///< The text itself, of what stands before it.
};

} // namespace troupe::models
