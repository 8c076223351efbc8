#pragma once

// What the gateway says in words of the wire.

#include <cstdint>

#include "actors/messages/internal.hpp"
#include "core/limits.hpp"
#include "core/text.hpp"

namespace troupe::actors {

inline messages::farewell last_words(const messages::run_finished& x,
                                     std::uint64_t nonce = 0) {
  return {messages::farewell_reason::finished,
          shortened(x.reason, limits::text_bytes_max / 2), nonce};
}

inline messages::farewell hello_wanted() {
  return {messages::farewell_reason::no_session, "say hello first"};
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
