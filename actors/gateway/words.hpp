#pragma once

// What a gateway says to clients of what it was told.

#include "actors/messages/internal.hpp"
#include "actors/messages/offer.hpp"
#include "actors/messages/session.hpp"
#include "core/limits.hpp"
#include "core/text.hpp"

namespace troupe::actors {

/// @param nonce of the hello that it answers, if it does
inline messages::farewell last_words(const messages::run_finished& x,
                                     std::uint64_t nonce = 0) {
  return {messages::farewell_reason::finished,
          shortened(x.reason, limits::text_bytes_max / 2), nonce};
}

inline messages::offer_answered answer_of(const messages::part_answered& x) {
  return {x.visit, x.line, x.verdict, x.head,
          x.verdict == policies::verdict::overloaded
            ? limits::overloaded_retry_ms
            : 0};
}

} // namespace troupe::actors
