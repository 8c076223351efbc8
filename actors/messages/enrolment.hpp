#pragma once

// How a process that was invited makes its own key known. Said on channel 0.

#include <cstdint>
#include <string>
#include <tuple>

#include "actors/messages/schema.hpp"
#include "core/keys.hpp"

namespace troupe::messages {

/// "This key is mine." The connection has that of an invitation, which is good
/// for nothing else.
struct enrolment_asked {
  static constexpr schema wire{
    .kind = 0x000c, .readable_since = 1, .field_counts = {2}};

  std::uint64_t nonce = 0;
  public_key own{};

  static constexpr auto fields(auto& x) {
    return std::tie(x.nonce, x.own);
  }
};

struct enrolment_answered {
  static constexpr schema wire{
    .kind = 0x000d, .readable_since = 1, .field_counts = {2}};

  std::uint64_t nonce = 0; ///< Of the question.
  std::string why;         ///< For people, why not; empty: it is enrolled.

  static constexpr auto fields(auto& x) {
    return std::tie(x.nonce, x.why);
  }
};

} // namespace troupe::messages
