#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "actors/messages/session.hpp"
#include "actors/messages/ticket.hpp"

namespace troupe::actors {

/// Signs invitations and recognizes its own. The key is kept in the ledger, so
/// that a restarted server knows its visits.
class seal {
public:
  using key = messages::seal_key;

  /// @param run of a run that is served, whose tickets are no other's though
  /// two had one key; zeros: not said
  explicit seal(const key& x, const messages::run_id& run = {})
    : key_(x),
      run_(run) {
    // nop
  }

  /// Fills in the MAC.
  void sign(messages::ticket& x) const;

  bool is_ours(const messages::ticket& x) const;

private:
  std::array<std::uint8_t, 16> mac_of(const messages::ticket& x) const;

  key key_;
  messages::run_id run_;
};

/// What a ticket is good for.
enum class worth : std::uint8_t {
  none, ///< It is none of ours.
  over, ///< It was: its visit begins nothing more, and what is kept counts.
  good,
};

/// The keys that a run's tickets are signed with: one and, for a while after it
/// was changed, those before. Thread-safe.
class seals {
public:
  /// So many of those before are known.
  static constexpr std::size_t former_max = 8;

  struct former {
    seal::key key{};
    std::int64_t until_ms = 0; ///< Since 1970; from then on it is over.

    friend bool operator==(const former&, const former&) = default;
  };

  struct keys {
    seal::key now{};
    std::vector<former> before = {}; ///< The last one first.
  };

  explicit seals(const messages::run_id& run = {}) : run_(run) {
    // nop
  }

  /// From now on.
  void use(const keys& x);

  /// This key, if nothing is used yet.
  void begin(const seal::key& x);

  /// What is used; nothing: nothing is yet.
  std::optional<keys> keys_now() const;

  void sign(messages::ticket& x) const;

  worth judge(const messages::ticket& x, std::int64_t now_ms) const;

private:
  messages::run_id run_;
  mutable std::mutex mutex_;
  std::optional<keys> keys_;
};

} // namespace troupe::actors
