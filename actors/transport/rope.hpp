#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actors/messages/wire.hpp"
#include "actors/transport/codec.hpp"
#include "core/values.hpp"

namespace troupe::transport {

/// Bytes that lie in a row, and what keeps them where they are.
struct strand {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

/// Bytes in an order that lie in several places: what was written for this, and
/// values that others hold, too. Those are not copied, and of bf16 only what is
/// sent next.
class rope {
public:
  void add(const void* first, std::size_t size);
  void add(const shared_values& x);

  std::uint64_t size() const noexcept {
    return shared_bytes_ + own_.size();
  }

  /// Of memory that nobody else has.
  std::size_t own_bytes() const noexcept {
    return own_.size() + pieces_.size() * sizeof(piece);
  }

  /// All of it, in order; as `part`.
  static std::vector<strand> parts(const std::shared_ptr<const rope>& whole);

  /// From `at` on, what lies in a row there: one byte at least, `most` at most.
  /// It lives as long as its owner, which it may share with `whole`, the rope.
  /// @pre at < size(), most > 0
  static strand part(const std::shared_ptr<const rope>& whole, std::uint64_t at,
                     std::size_t most);

private:
  struct piece {
    std::uint64_t begin = 0; ///< In the rope.
    std::size_t own_at = 0;  ///< Where in `own_`, if nobody shares it.
    shared_values shared;
  };

  std::vector<piece> pieces_;
  buffer own_;
  std::uint64_t shared_bytes_ = 0;
};

/// The payload of a message, as the codec writes it.
std::shared_ptr<const rope> payload_rope(const messages::any_message& x);

/// What `encode` makes of a message, in parts.
std::vector<strand> frame_parts(const messages::any_message& x);

} // namespace troupe::transport
