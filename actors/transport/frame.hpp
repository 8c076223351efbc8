#pragma once

#include <memory>
#include <variant>

#include "actors/messages/wire.hpp"
#include "actors/transport/envelope.hpp"
#include "core/ids.hpp"

namespace troupe::transport {

/// What crosses an endpoint: bytes, or within one process the message itself,
/// whose values are pointers.
class frame {
public:
  frame() = default;

  explicit frame(buffer bytes)
    : body_(std::make_shared<const buffer>(std::move(bytes))) {
    // nop
  }

  explicit frame(messages::any_message x)
    : body_(std::make_shared<const messages::any_message>(std::move(x))) {
    // nop
  }

  /// The message in this frame, decoded if it came as bytes.
  result<std::shared_ptr<const messages::any_message>> open() const {
    if (const auto* ready = std::get_if<message_ptr>(&body_); ready && *ready)
      return *ready;
    const auto* bytes = std::get_if<bytes_ptr>(&body_);
    if (!bytes || !*bytes)
      return fail(errc::malformed_message, "an empty frame");
    return decode(**bytes).map([](messages::any_message x) {
      return std::make_shared<const messages::any_message>(std::move(x));
    });
  }

  /// Bytes that this frame takes on a wire.
  std::size_t size() const {
    if (const auto* bytes = std::get_if<bytes_ptr>(&body_))
      return *bytes ? (*bytes)->size() : 0;
    return encoded_size(*std::get<message_ptr>(body_));
  }

private:
  using bytes_ptr = std::shared_ptr<const buffer>;
  using message_ptr = std::shared_ptr<const messages::any_message>;

  std::variant<bytes_ptr, message_ptr> body_;
};

/// To the actor for which an endpoint was made.
struct frame_arrived {
  peer_id peer;
  frame what;
};

} // namespace troupe::transport
