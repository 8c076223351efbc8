#pragma once

#include <memory>
#include <variant>

#include "actors/messages/wire.hpp"
#include "actors/transport/envelope.hpp"
#include "core/ids.hpp"

namespace troupe::transport {

/// What came in pieces, without an envelope.
struct whole_payload {
  std::uint16_t kind = 0;
  messages::written_as writer;
  std::uint64_t size = 0;
  std::shared_ptr<std::byte> bytes; ///< Where its values stay.
};

/// What crosses an endpoint: bytes, or within one process the message itself,
/// whose values are pointers.
class frame {
public:
  frame() = default;

  /// `room` is held for as long as there is such a frame.
  explicit frame(buffer bytes, std::shared_ptr<const void> room = {})
    : body_(std::make_shared<const buffer>(std::move(bytes))),
      room_(std::move(room)) {
    // nop
  }

  frame(std::shared_ptr<const whole_payload> x,
        std::shared_ptr<const void> room)
    : body_(std::move(x)),
      room_(std::move(room)) {
    // nop
  }

  /// In the place of what was too much to be taken: nothing of it is here.
  static frame left_out(std::shared_ptr<const void> room = {}) {
    frame out;
    out.room_ = std::move(room);
    out.is_left_out_ = true;
    return out;
  }

  explicit frame(messages::any_message x)
    : body_(std::make_shared<const messages::any_message>(std::move(x))) {
    // nop
  }

  /// The message in this frame, decoded if it came as bytes; its values may be
  /// handles on these.
  result<std::shared_ptr<const messages::any_message>> open() const {
    if (const auto* ready = std::get_if<message_ptr>(&body_); ready && *ready)
      return *ready;
    if (const auto* payload = std::get_if<payload_ptr>(&body_)) {
      const auto& x = **payload;
      return decode_kind(x.kind, x.writer, {x.bytes.get(), x.size}, x.bytes)
        .map([](messages::any_message y) {
          return std::make_shared<const messages::any_message>(std::move(y));
        });
    }
    const auto* bytes = std::get_if<bytes_ptr>(&body_);
    if (!bytes || !*bytes)
      return fail(errc::malformed_message, "an empty frame");
    return decode(**bytes, *bytes).map([](messages::any_message x) {
      return std::make_shared<const messages::any_message>(std::move(x));
    });
  }

  bool is_left_out() const noexcept {
    return is_left_out_;
  }

  /// Bytes that this frame takes on a wire.
  std::size_t size() const {
    if (const auto* bytes = std::get_if<bytes_ptr>(&body_))
      return *bytes ? (*bytes)->size() : 0;
    if (const auto* payload = std::get_if<payload_ptr>(&body_))
      return envelope_size + (*payload)->size;
    return encoded_size(*std::get<message_ptr>(body_));
  }

private:
  using bytes_ptr = std::shared_ptr<const buffer>;
  using message_ptr = std::shared_ptr<const messages::any_message>;
  using payload_ptr = std::shared_ptr<const whole_payload>;

  std::variant<bytes_ptr, message_ptr, payload_ptr> body_;
  std::shared_ptr<const void> room_;
  bool is_left_out_ = false;
};

/// To the actor for which an endpoint was made.
struct frame_arrived {
  peer_id peer;
  frame what;
};

} // namespace troupe::transport
