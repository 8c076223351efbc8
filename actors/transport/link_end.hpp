#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "actors/transport/inbox.hpp"
#include "actors/transport/outbox.hpp"

namespace troupe::transport {

/// One end of what stays between two processes while their connections come and
/// go: after a new one both go on where the other end is. Knows neither sockets
/// nor time.
///
///   dialler                                   server
///   opened(n) ──────────────────────────────► knows the instance: this link
///             ◄────────────────────────────── opened(n)
///   framed, began, chunk …   ◄──────────────► … reached, refused
class link_end {
public:
  struct options {
    outbox::options out = {};
    inbox::options in;
    std::uint64_t instance = 0; ///< Drawn at random when this end was made.
  };

  explicit link_end(options x)
    : out_(x.out),
      in_(std::move(x.in)),
      instance_(x.instance) {
    // nop
  }

  /// Takes a message for the other end.
  outbox::taken say(channel_id to, const messages::any_message& x) {
    return out_.add(to, x);
  }

  /// Whoever dialled has a connection, which it numbers.
  void connected(std::uint32_t number);

  /// The connection is gone; what was under way goes on over the next one.
  void lost() {
    heard_opened_ = false;
    say_opened_ = false;
  }

  /// The other end is out of reach, and may be back: small frames are not held
  /// for it, and what is under way either way goes on where it was.
  void out_of_reach() {
    lost();
    out_.drop_small();
  }

  /// The other end is gone, and may not come back: nothing is held for it but
  /// large messages, which cost nothing beside their values.
  void abandoned() {
    lost();
    in_.drop_unfinished();
    out_.drop_small();
  }

  /// What the other end has not finished is begun again, from its first byte.
  void drop_unfinished() noexcept {
    in_.drop_unfinished();
  }

  /// Whether the other end holds room here for something unfinished.
  bool holds_room() const noexcept {
    return in_.holds_room();
  }

  /// Somebody at the other end is known: it may say what is large.
  void has_session() noexcept {
    in_.has_session();
  }

  /// Of what waits to be said, what nobody else holds.
  std::size_t own_bytes() const noexcept {
    return out_.own_bytes();
  }

  /// Has the other end hear something, if it holds room: who is gone shows.
  void probe() noexcept {
    in_.say_again();
  }

  /// Of who listens: says before all else that it will have another key.
  void announce(const announcement& x) {
    announce_ = x;
  }

  /// What the other end has announced since this was asked last.
  std::optional<announcement> take_announced() {
    return std::exchange(announced_, std::nullopt);
  }

  /// Nothing is left to be said.
  bool is_idle() const noexcept {
    return out_.empty();
  }

  /// A large message is on its way to the other end, or waits to be.
  bool sends_large() const noexcept {
    return out_.has_large();
  }

  /// What it is sent waits until it takes more.
  bool waits_for_credit() const noexcept {
    return heard_opened_ && out_.waits_for_credit();
  }

  /// Something that the other end began waits for room.
  bool waits_for_room() const noexcept {
    return heard_opened_ && in_.waits_for_room();
  }

  /// So much of it. @pre it waits
  std::uint64_t wanted_bytes() const noexcept {
    return in_.size();
  }

  /// What the other end sent; it is the endpoint's to know which link it is of.
  result<arrivals> heard(const piece& x);

  /// Takes what goes out next. Null: nothing may, for now.
  std::optional<piece> next();

  /// All that may still be said over this connection; nothing where there is
  /// none.
  std::optional<piece> last_word(const messages::any_message& x) const;

  /// Both ends said `opened` on this connection.
  bool is_open() const noexcept {
    return heard_opened_;
  }

  /// Of who listens: whether an `opened` of the other end's is of a connection
  /// before the one that is known; it may come late.
  bool knows_newer_than(const piece& x) const noexcept {
    return !dialled_ && other_ && x.connection < connection_;
  }

  /// Whether the other end takes a piece that is one part of a message.
  bool may_join_parts() const noexcept {
    return heard_opened_ && protocol_ >= protocol_in_one_part;
  }

  /// The other end's instance, once it said so.
  std::optional<std::uint64_t> other() const noexcept {
    return other_;
  }

private:
  result<arrivals> opened(const piece& x);

  outbox out_;
  inbox in_;
  std::uint64_t instance_;
  bool dialled_ = false;
  std::uint32_t connection_ = 0;
  std::uint16_t protocol_ = link_protocol; ///< Both ends speak it.
  bool say_opened_ = false;
  bool heard_opened_ = false;
  std::optional<std::uint64_t> other_;
  std::optional<announcement> announce_;
  std::optional<announcement> announced_;
};

} // namespace troupe::transport
