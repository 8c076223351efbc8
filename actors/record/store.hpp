#pragma once

// The one seam to what outlives the process. There are two stores: in memory,
// for tests and runs that keep nothing, and SQLite with content-addressed files
// beside it.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "actors/messages/internal.hpp"
#include "actors/messages/ticket.hpp"
#include "actors/record/arrivals.hpp"
#include "actors/record/snapshot.hpp"
#include "core/result.hpp"
#include "policies/visit_window.hpp"

namespace troupe::actors {

/// What is durable about one version line.
struct stored_line {
  version head{};
  round_number round{}; ///< The last that made a version.
  std::vector<messages::merged_block> blocks;
  policies::visit_windows merged;
};

/// What is durable about a node.
struct stored_node {
  std::map<line_id, stored_line> lines;
  std::map<client_id, messages::client_record> clients;
  std::uint64_t index_upto = 0;
  messages::round_record round;
  policies::stopper_state stopper;
  std::uint64_t updates = 0;  ///< Visits of which some line merged a part.
  std::uint64_t fruitful = 0; ///< Rounds before `round` that made a version.
  messages::course_end end{}; ///< None: the run has not come to last visits.
  std::set<client_id> had_last = {}; ///< Clients that had theirs.
  messages::seal_key key{};          ///< Drawn when the store was made.
};

/// One thread at a time uses a store. The blocks of a line are sorted by id.
/// Every call is one transaction: when it returns an error, all of it or
/// nothing may have happened, and the same call again is safe.
class store {
public:
  virtual ~store() = default;

  /// All that is durable; no lines if the store is new.
  [[nodiscard]] virtual result<stored_node> load() = 0;

  /// Makes version 0 of a line. One that is there already stays as it is.
  [[nodiscard]] virtual result<void>
  begin(line_id line, const std::vector<messages::merged_block>& blocks) = 0;

  /// A version, its visits and the windows that they close. Returns
  /// `storage_failure` if `x.head` is not the next one (or the last, repeated).
  [[nodiscard]] virtual result<void>
  commit(const messages::commit_requested& x) = 0;

  /// Whether older versions are kept and can be read.
  virtual bool reads() const noexcept {
    return false;
  }

  /// An older version, without its moments. Nothing where it is not kept.
  [[nodiscard]] virtual result<std::optional<messages::version_published>>
  read(const messages::version_wanted&) {
    return std::nullopt;
  }

  [[nodiscard]] virtual result<void>
  save(const messages::save_requested& x) = 0;

  /// Appends a line of text for people and programs; durable at the next
  /// commit.
  [[nodiscard]] virtual result<void> note(const messages::line_noted& x) = 0;

  /// Where offers wait that memory has no room for; null: nowhere. It is used
  /// beside the store.
  virtual std::shared_ptr<arrivals> arrived() const {
    return nullptr;
  }

  /// Makes all lines durable now.
  [[nodiscard]] virtual result<void> flush() {
    return {};
  }

  /// Keeps where a simulated run stands, with all that is durable now. A store
  /// that does not outlive the run has no use for it.
  [[nodiscard]] virtual result<void> keep(const snapshot&) {
    return {};
  }

  /// Goes back to the last snapshot: what was stored or noted after it is gone.
  /// Nothing where there is none, and then nothing has changed.
  [[nodiscard]] virtual result<std::optional<snapshot>> rewind() {
    return std::nullopt;
  }
};

/// Keeps the last version of each line.
std::unique_ptr<store> make_memory_store(const messages::seal_key& key);

} // namespace troupe::actors
