#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "actors/messages/offer.hpp"
#include "actors/messages/visit.hpp"
#include "core/clock.hpp"
#include "core/duration_counts.hpp"
#include "core/ids.hpp"
#include "models/client_state.hpp"

namespace troupe::actors {

using state_ptr = std::shared_ptr<const models::client_state>;

/// An offer that has not been answered for every line.
struct kept_offer {
  messages::offer_made offer; ///< Without what lines have durably.
  std::set<line_id> unanswered;
  bool refused = false; ///< Some line was.
  state_ptr next;       ///< Becomes current when all is accepted; null: it is.
  instant said{}; ///< When it was last sent; of no meaning after a restart.
  std::optional<instant> again = {}; ///< When to say it, as the server asked.
  std::set<line_id> held = {}; ///< By lines that will answer, in this session.

  /// By all of whom it has no answer.
  bool is_held() const {
    return held.size() == unanswered.size();
  }

  static constexpr auto fields(auto& x) {
    return std::tie(x.offer, x.unanswered, x.refused, x.next, x.said, x.again,
                    x.held);
  }
};

/// A visit under way.
struct begun_visit {
  messages::ticket pass;
  std::map<line_id, version> fetched; ///< A resumed visit asks for these again.

  static constexpr auto fields(auto& x) {
    return std::tie(x.pass, x.fetched);
  }
};

/// What a client must not forget: written whole, in one transaction, whenever a
/// visit begins, offers or is settled.
struct client_file {
  std::uint64_t incarnation = 0;
  visit_number last{}; ///< The newest visit that was begun.
  state_ptr state = std::make_shared<const models::client_state>();
  std::optional<begun_visit> open;
  std::vector<kept_offer> outbox;
  /// How `last` ended, if it did so without an offer: said again when asked.
  std::optional<messages::decline_reason> declined;

  static constexpr auto fields(auto& x) {
    return std::tie(x.incarnation, x.last, x.state, x.open, x.outbox,
                    x.declined);
  }
};

/// Where clients that live in this process keep their files. Thread-safe.
class vault {
public:
  virtual ~vault() = default;

  /// How long it took to keep what was kept at once, and whether it waits for
  /// the disk.
  struct standing {
    duration_counts times = {};
    bool waits = false;
  };

  virtual standing seen() const {
    return {};
  }

  /// True: it is kept. False: it will be, and `kept` is called then, on any
  /// thread.
  virtual bool save(client_id who, const client_file& x,
                    std::function<void()> kept) = 0;
  virtual std::optional<client_file> load(client_id who) const = 0;

  /// The current states of all clients, for evaluation at home.
  virtual std::map<client_id, state_ptr> states() const = 0;
};

class memory_vault final : public vault {
public:
  bool save(client_id who, const client_file& x,
            std::function<void()> = {}) override {
    const std::lock_guard guard{mutex_};
    files_[who] = x;
    return true;
  }

  std::optional<client_file> load(client_id who) const override {
    const std::lock_guard guard{mutex_};
    const auto found = files_.find(who);
    if (found == files_.end())
      return std::nullopt;
    return found->second;
  }

  std::map<client_id, state_ptr> states() const override {
    const std::lock_guard guard{mutex_};
    std::map<client_id, state_ptr> result;
    for (const auto& [who, file] : files_)
      result.emplace(who, file.state);
    return result;
  }

private:
  mutable std::mutex mutex_;
  std::map<client_id, client_file> files_;
};

} // namespace troupe::actors
