#pragma once

// All messages that cross an endpoint. Kinds are grouped by conversation and
// never reused: 0x00 sessions, 0x01 offers, 0x02 visits, 0x03 announcements,
// 0x04 scores.

#include <array>
#include <variant>

#include "actors/messages/enrolment.hpp"
#include "actors/messages/offer.hpp"
#include "actors/messages/scores.hpp"
#include "actors/messages/session.hpp"
#include "actors/messages/terms.hpp"
#include "actors/messages/visit.hpp"

namespace troupe::messages {

using any_message =
  std::variant<hello, welcome, farewell, beat, beat_answered, leave, invited,
               fetch_requested, line_served, visit_ended, visit_declined,
               offer_made, offer_answered, offer_held, offer_awaited,
               version_announced, terms_asked, terms_given, places_asked,
               places_given, process_parted, enrolment_asked,
               enrolment_answered, frozen_asked, frozen_given, scores_asked,
               scores_told>;

namespace detail {

template <class... Ts>
constexpr bool kinds_are_unique(const std::variant<Ts...>*) {
  const std::array kinds{Ts::wire.kind...};
  for (std::size_t i = 0; i < kinds.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (kinds[i] == kinds[j])
        return false;
  return (message<Ts> && ...);
}

} // namespace detail

static_assert(detail::kinds_are_unique(static_cast<any_message*>(nullptr)));

} // namespace troupe::messages
