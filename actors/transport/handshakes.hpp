#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/clock.hpp"

namespace troupe::transport {

/// Why who dials is not let in.
enum class turned_away : std::uint8_t {
  our_key,    ///< The server does not allow it.
  no_longer,  ///< It did, and told us that it does no more.
  their_key,  ///< Whoever answers has another key than they should, or none.
  by_another, ///< The same, where the server was before: it may come back.
};

/// What is seen of the connection of who dials.
enum class connection_event : std::uint8_t {
  begun, ///< Somebody took it; a handshake is to come.
  made,
  lost,
  refused, ///< The server said that it does not allow the key.
  unlike,  ///< One side has keys and the other has not.
  broken, ///< Ended within the handshake: so does who has another key, or dies.
  unanswered, ///< The same, and whoever took it was silent for long.
};

/// What attempts that fail mean for who dials.
class handshakes {
public:
  /// After so many in a row, nobody dies there: it is another.
  static constexpr int broken_max = 3;
  /// And where there was one, this is said, once: it may have another key now.
  static constexpr int strange_max = 10;
  /// Who has another key ends a handshake at once. One that ends later says
  /// nothing of keys: a server may hang, or not know yet whom it lets in.
  static constexpr instant answer_max = std::chrono::seconds{3};

  explicit handshakes(bool with_keys) : with_keys_(with_keys) {
    // nop
  }

  /// What became of a connection, by how long it took.
  connection_event timed(connection_event what, instant now) {
    if (what == connection_event::begun)
      begun_ = now;
    return what == connection_event::broken && now > begun_ + answer_max
             ? connection_event::unanswered
             : what;
  }

  /// @param keys so many are tried, one after the other
  std::optional<turned_away> heard(connection_event what, int keys = 1) {
    if (what == connection_event::refused)
      return turned_away::our_key;
    const bool made = what == connection_event::made;
    ever_made_ |= made;
    if (made)
      broken_ = 0;
    const bool broken = with_keys_ && what == connection_event::broken;
    broken_ += broken;
    // Who was there once comes back; what is there meanwhile is no matter.
    if (ever_made_)
      return broken && broken_ == strange_max * keys
               ? std::optional{turned_away::by_another}
               : std::nullopt;
    if (what == connection_event::unlike
        || (broken && broken_ >= broken_max * keys))
      return turned_away::their_key;
    return std::nullopt;
  }

private:
  bool with_keys_;
  bool ever_made_ = false;
  int broken_ = 0;
  instant begun_{};
};

} // namespace troupe::transport
