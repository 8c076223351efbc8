#pragma once

// What a gateway says to clients, in words of the wire, of what it was told.

#include <cstdint>

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

inline messages::farewell superseded(std::uint64_t nonce) {
  return {messages::farewell_reason::superseded,
          "the client has another session", nonce};
}

inline messages::welcome welcome_to(const messages::hello_judged& x) {
  return {.protocol = messages::protocol_version,
          .nonce = x.what.nonce,
          .session = x.session,
          .heads = {}};
}

inline messages::offer_held held(const messages::part_held& x) {
  return {x.visit, x.line, static_cast<std::uint8_t>(x.durable ? 1 : 0)};
}

inline messages::offer_answered answer(const messages::part_answered& x) {
  return {x.visit, x.line, x.verdict, x.head,
          x.verdict == policies::verdict::overloaded
            ? limits::overloaded_retry_ms
            : 0};
}

} // namespace troupe::actors
