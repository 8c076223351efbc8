#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "actors/transport/frame.hpp"
#include "actors/transport/held_bytes.hpp"
#include "actors/transport/landing_pool.hpp"
#include "actors/transport/piece.hpp"

namespace troupe::transport {

/// A frame of one of the other end's channels.
struct arrival {
  channel_id channel;
  frame what;
};

using arrivals = std::vector<arrival>;

/// What has come in over one connection: puts large frames together, one at a
/// time, and says how far they may go on. Knows neither sockets nor time.
class inbox {
public:
  struct options {
    /// How large a message of a kind may be; 0: none of that kind comes.
    std::function<std::uint64_t(std::uint16_t kind)> bytes_max;
    std::size_t frame_bytes_max = 64 << 10; ///< Of what comes whole.
    /// Of any message, until there is a session. What is more is left out.
    std::uint64_t stranger_bytes_max =
      std::numeric_limits<std::uint64_t>::max();
    std::uint64_t window_bytes = std::uint64_t{8} << 20; ///< Under way at once.
    std::shared_ptr<held_bytes> room;                    ///< Not null.
    std::shared_ptr<landing_pool> landing;               ///< Not null.
  };

  explicit inbox(options x) : options_(std::move(x)) {
    // nop
  }

  /// @returns the frames that are whole by this piece, or what is wrong with
  /// it.
  /// @pre it is `framed`, `bundled`, `began` or `chunk`
  result<arrivals> heard(const piece& x);

  /// Somebody at the other end is known.
  void has_session() noexcept {
    has_session_ = true;
  }

  /// Takes what is to be said to the other end.
  std::optional<piece> next();

  /// Says once more how far the other end may go on: if it is gone, that shows.
  void say_again() noexcept {
    if (open_ && open_->room)
      open_->to_be_answered = true;
  }

  /// What is unfinished will be begun again, from its first byte.
  void drop_unfinished() noexcept {
    open_.reset();
  }

  bool holds_room() const noexcept {
    return open_ && open_->room;
  }

  bool waits_for_room() const noexcept {
    return open_ && !open_->room;
  }

  /// How much what is under way takes; 0: nothing is.
  std::uint64_t size() const noexcept {
    return open_ ? open_->what.size : 0;
  }

  /// The other end knows nothing of what it sent before.
  void forget();

  /// There is a new connection: what is under way will be begun again.
  void begin_again();

private:
  struct transfer {
    transfer_id id;
    channel_id channel;
    beginning what;
    std::shared_ptr<const void> room; ///< Null: it waits for it.
    std::shared_ptr<whole_payload> payload;
    std::uint64_t have = 0;
    std::uint64_t until = 0;
    bool to_be_answered = false;
  };

  result<arrivals> begin(const piece& x);
  result<arrivals> append(const piece& x);
  result<arrivals> unbundle(const piece& x) const;
  void small(arrivals& to, channel_id of,
             std::span<const std::byte> bytes) const;
  void leave_out(arrivals& to, channel_id of) const;

  /// Of whom nobody knows.
  bool is_too_much(std::uint64_t bytes) const noexcept {
    return !has_session_ && bytes > options_.stranger_bytes_max;
  }

  void refuse(transfer_id x) noexcept;
  void allow(transfer& x) const;

  options options_;
  std::optional<transfer> open_;
  transfer_id ended_; ///< The last one that was taken or refused.
  std::uint64_t ended_size_ = 0;
  bool ended_refused_ = false;
  bool say_ended_ = false;
  bool has_session_ = false;
};

} // namespace troupe::transport
