#pragma once

#include <cstdint>
#include <optional>

namespace troupe::transport {

/// Why who dials is not let in.
enum class turned_away : std::uint8_t {
  our_key,   ///< The server does not allow it.
  their_key, ///< Whoever answers has another key than they should, or none.
};

/// What is seen of the connection of who dials.
enum class connection_event : std::uint8_t {
  made,
  lost,
  refused, ///< The server said that it does not allow the key.
  unlike,  ///< One side has keys and the other has not.
  broken, ///< Ended within the handshake: so does who has another key, or dies.
};

/// What attempts that fail mean for who dials.
class handshakes {
public:
  /// After so many in a row, nobody dies there: it is another.
  static constexpr int broken_max = 3;

  explicit handshakes(bool with_keys) : with_keys_(with_keys) {
    // nop
  }

  std::optional<turned_away> heard(connection_event what) {
    if (what == connection_event::refused)
      return turned_away::our_key;
    ever_made_ |= what == connection_event::made;
    // Who was there once comes back; what is there meanwhile is no matter.
    if (ever_made_)
      return std::nullopt;
    if (what == connection_event::unlike)
      return turned_away::their_key;
    const bool broken = what == connection_event::broken;
    if (with_keys_ && broken && ++broken_ >= broken_max)
      return turned_away::their_key;
    return std::nullopt;
  }

private:
  bool with_keys_;
  bool ever_made_ = false;
  int broken_ = 0;
};

} // namespace troupe::transport
