#pragma once

// The conversation that carries all others: who is there.

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "actors/messages/schema.hpp"
#include "actors/messages/ticket.hpp"
#include "core/ids.hpp"

namespace troupe::messages {

inline constexpr std::uint16_t protocol_version = 1;

/// In the place of 1 where values are rounded, and then are halves: who speaks
/// 1 alone would not read them.
inline constexpr std::uint16_t protocol_with_bf16 = 2;

constexpr std::uint16_t protocol_of(bool rounds) noexcept {
  return rounds ? protocol_with_bf16 : protocol_version;
}

using run_id = std::array<std::uint8_t, 16>;

struct line_head {
  line_id line{};
  version head{};

  static constexpr auto fields(auto& x) {
    return std::tie(x.line, x.head);
  }
};

/// Opens or reopens a session. The layout digest refuses an offer for another
/// architecture before it travels.
struct hello {
  static constexpr schema wire{
    .kind = 0x0001, .readable_since = 1, .field_counts = {7, 8, 9, 10}};

  static constexpr visit_number not_said{~std::uint64_t{0}};

  std::uint16_t protocol_min = protocol_version;
  std::uint16_t protocol_max = protocol_version;
  client_id client{};
  std::uint64_t incarnation = 0; ///< Grows with each restart; fences sessions.
  std::array<std::uint8_t, 32> layout{};
  std::uint64_t nonce = 0;
  std::uint64_t examples = 0;   ///< What the client's weights are bounded by.
  visit_number last = not_said; ///< The newest visit that it remembers.
  /// The visit that it is at work on, if any: a server that began again knows
  /// of it by this.
  std::vector<ticket> open = {};
  run_id run{}; ///< Whose terms it goes by; zeros: not said.

  static constexpr auto fields(auto& x) {
    return std::tie(x.protocol_min, x.protocol_max, x.client, x.incarnation,
                    x.layout, x.nonce, x.examples, x.last, x.open, x.run);
  }
};

struct welcome {
  static constexpr schema wire{
    .kind = 0x0002, .readable_since = 1, .field_counts = {4}};

  std::uint16_t protocol = protocol_version;
  std::uint64_t nonce = 0; ///< Of the hello that this answers.
  session_id session{};
  std::vector<line_head> heads; ///< None: what is newest is learned by a fetch.

  static constexpr auto fields(auto& x) {
    return std::tie(x.protocol, x.nonce, x.session, x.heads);
  }
};

enum class farewell_reason : std::uint8_t {
  protocol,   ///< No version that both speak.
  layout,     ///< Another architecture.
  superseded, ///< A newer incarnation of the client has a session.
  refused,    ///< Not admitted: examples out of bounds, or evicted.
  no_session, ///< A message without a hello; say hello.
  finished,   ///< The run has ended.
};

constexpr bool known(farewell_reason x) noexcept {
  return x <= farewell_reason::finished;
}

struct farewell {
  static constexpr schema wire{
    .kind = 0x0003, .readable_since = 1, .field_counts = {3, 4}};

  farewell_reason reason = farewell_reason::refused;
  std::string text; ///< For people.
  std::uint64_t nonce =
    0; ///< Of the hello that is refused; 0: not about a hello.
  /// `superseded`: the incarnation that was here, if it is gone; else 0.
  std::uint64_t newest = 0;

  static constexpr auto fields(auto& x) {
    return std::tie(x.reason, x.text, x.nonce, x.newest);
  }
};

/// "I am alive": from the client, at its own pace, however long it trains.
struct beat {
  static constexpr schema wire{
    .kind = 0x0004, .readable_since = 1, .field_counts = {2}};

  client_id client{};
  session_id session{};

  static constexpr auto fields(auto& x) {
    return std::tie(x.client, x.session);
  }
};

/// `heads` as in `welcome`: with thousands of lines it would be long.
struct beat_answered {
  static constexpr schema wire{
    .kind = 0x0005, .readable_since = 1, .field_counts = {1}};

  std::vector<line_head> heads;

  static constexpr auto fields(auto& x) {
    return std::tie(x.heads);
  }
};

/// The client goes and says so. What it offered stays.
struct leave {
  static constexpr schema wire{
    .kind = 0x0006, .readable_since = 1, .field_counts = {1}};

  client_id client{};

  static constexpr auto fields(auto& x) {
    return std::tie(x.client);
  }
};

} // namespace troupe::messages
