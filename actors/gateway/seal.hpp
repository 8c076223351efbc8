#pragma once

#include <array>
#include <cstdint>

#include "actors/messages/ticket.hpp"

namespace troupe::actors {

/// Signs invitations and recognizes its own. The key is kept in the ledger, so
/// that a restarted server knows its visits.
class seal {
public:
  using key = messages::seal_key;

  explicit seal(const key& x) : key_(x) {
    // nop
  }

  /// Fills in the MAC.
  void sign(messages::ticket& x) const;

  bool is_ours(const messages::ticket& x) const;

private:
  std::array<std::uint8_t, 16> mac_of(const messages::ticket& x) const;

  key key_;
};

} // namespace troupe::actors
