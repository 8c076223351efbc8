#pragma once

// What a gateway says to clients, in words of the wire, of what it was told;
// and to the director of what they offer.

#include <algorithm>
#include <cstdint>

#include "actors/messages/internal.hpp"
#include "actors/messages/load.hpp"
#include "actors/messages/offer.hpp"
#include "actors/messages/session.hpp"
#include "core/limits.hpp"
#include "core/recipe.hpp"
#include "core/text.hpp"

namespace troupe::actors {

/// Whether anybody is to hear what visits use.
inline bool is_to_be_watched(const recipe& method) {
  return !method.disclosures.empty()
         || std::ranges::any_of(method.blocks, [](const auto& x) {
              return x.where == scope::expert;
            });
}

inline messages::visit_loaded load_of(const messages::offer_made& x,
                                      std::uint64_t examples) {
  messages::visit_loaded out{.visit = x.pass.visit,
                             .examples = examples,
                             .blocks = {},
                             .disclosures = x.disclosures};
  for (const auto& part : x.blocks)
    out.blocks.push_back(part.block);
  return out;
}

/// @param nonce of the hello that it answers, if it does
inline messages::farewell last_words(const messages::run_finished& x,
                                     std::uint64_t nonce = 0) {
  return {messages::farewell_reason::finished,
          shortened(x.reason, limits::text_bytes_max / 2), nonce};
}

inline messages::farewell no_session() {
  return {messages::farewell_reason::no_session, "say hello first"};
}

/// Of a judgement that refuses it.
inline messages::farewell refused(const messages::hello_judged& x) {
  return {*x.refusal, x.text, x.what.nonce, x.newest};
}

inline messages::farewell superseded(std::uint64_t nonce) {
  return {messages::farewell_reason::superseded,
          "the client has another session", nonce};
}

/// Of a hello that nobody judges.
inline messages::farewell not_admitted(const char* why, std::uint64_t nonce) {
  return {messages::farewell_reason::refused, why, nonce};
}

inline messages::welcome welcome_to(std::uint64_t nonce, session_id session,
                                    const models::layout& blocks) {
  return {.protocol = messages::protocol_of(blocks.rounds()),
          .nonce = nonce,
          .session = session,
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
