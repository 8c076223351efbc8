#pragma once

#include "core/clock.hpp"

namespace troupe {

/// How long those who ask wait for an answer, and when they ask again.
struct patience {
  instant merge = std::chrono::minutes{10};
  instant store = std::chrono::minutes{1}; ///< Commits and saves.
  instant evaluation = std::chrono::hours{1};
  /// For clients elsewhere to say what versions are worth to them.
  instant scores = std::chrono::minutes{1};
  instant retry_after = std::chrono::seconds{1};
};

} // namespace troupe
