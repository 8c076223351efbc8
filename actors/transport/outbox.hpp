#pragma once

#include <compare>
#include <list>
#include <map>
#include <optional>
#include <set>

#include "actors/transport/piece.hpp"
#include "core/limits.hpp"

namespace troupe::transport {

/// What goes out next over one connection: small frames first, and one large
/// one after the other, in pieces, as far as the receiver allows. Knows neither
/// sockets nor time.
class outbox {
public:
  struct options {
    std::size_t frame_bytes_max = 64 << 10; ///< Above: in chunks.
    std::size_t chunk_bytes = 256 << 10;
    /// Of what nobody else holds.
    std::size_t queued_bytes_max = limits::unsent_bytes_max;
  };

  explicit outbox(options x) : options_(x) {
    // nop
  }

  outbox(outbox&&) = default;
  outbox& operator=(outbox&&) = default;

  enum class taken : std::uint8_t {
    taken,
    already, ///< One about the same waits or is under way.
    no_room, ///< It is lost.
  };

  /// Takes a message. One about the same that waits is not taken twice if it is
  /// large, and gives way to this one if it is small. Answers to visits that
  /// are over by it, and of which nothing has gone out, are dropped.
  taken add(channel_id to, const messages::any_message& x);

  /// Takes what is to be sent next, if anything may be.
  std::optional<piece> next();

  /// The other end has so much of a transfer, and takes it up to `until`. What
  /// can't be is passed over: it has no meaning to us.
  void reached(transfer_id what, std::uint64_t at, std::uint64_t until);

  /// Whether the other end takes small frames in bundles.
  void may_bundle(bool x) noexcept {
    bundles_ = x;
  }

  /// The other end does not want it.
  void refused(transfer_id what);

  /// There is a new connection: the other end will say how far it is.
  void begin_again();

  /// Nobody is there: small frames are lost, and the rest may go on later.
  void drop_small();

  /// The other end is another one: what the one before may have answered is not
  /// said to it. Whoever has no answer says it again.
  void forget();

  /// What nobody else holds.
  std::size_t own_bytes() const noexcept {
    return bytes_;
  }

  /// A large message waits or is under way.
  bool has_large() const noexcept {
    return !large_.empty();
  }

  /// The other end took some of a large message, and does not take more yet.
  bool waits_for_credit() const noexcept {
    if (large_.empty())
      return false;
    const auto& x = large_.front();
    return x.until > 0 && x.sent >= x.until && x.sent < x.payload->size();
  }

  bool empty() const noexcept {
    return small_.empty() && large_.empty();
  }

private:
  /// What a message is about; of two with the same, one is enough.
  struct subject {
    std::uint16_t kind = 0;
    channel_id channel;
    visit_id visit;
    line_id line;
    std::uint32_t leg = 0;

    friend auto operator<=>(const subject&, const subject&) = default;
  };

  struct small {
    subject about;
    buffer bytes;
  };

  struct large {
    transfer_id id;
    subject about;
    std::uint8_t version = 1;
    std::uint8_t readable_since = 1;
    std::shared_ptr<const rope> payload;
    bool announced = false; ///< Over this connection.
    bool has_begun = false; ///< Over any.
    std::uint64_t sent = 0;
    std::uint64_t until = 0;
  };

  static subject about(channel_id to, const messages::any_message& x);
  bool has_room(std::size_t bytes) const noexcept;
  taken add_small(const subject& what, const messages::any_message& x);
  static piece beginning_of(const large& x);
  void drop_answers(const subject& since);
  void drop(std::list<large>::iterator x);
  void drop_first();
  small take_small();
  piece next_small();
  piece bundle_from(const small& first);

  /// The first that waits, behind so many bytes of a bundle.
  bool fits_behind(std::size_t bytes) const;

  options options_;
  bool bundles_ = false;
  std::list<small> small_;            // Nothing to be said takes no memory.
  std::map<subject, small*> waiting_; ///< Of those.
  std::list<large> large_;            ///< The first is under way.
  std::set<subject> queued_;          ///< Of those.
  std::size_t bytes_ = 0;             ///< Of ours.
  transfer_id last_;
};

} // namespace troupe::transport
