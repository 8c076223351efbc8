#pragma once

// A server and all of its clients in one process, under one of the clocks.

#include <atomic>
#include <functional>
#include <memory>

#include "actors/client/client_file.hpp"
#include "actors/client/hub.hpp"
#include "actors/gateway/traffic.hpp"
#include "actors/record/snapshot.hpp"
#include "actors/record/store.hpp"
#include "node/run/keeper.hpp"
#include "node/run/serving.hpp"
#include "node/task/workload.hpp"
#include "node/watch/board.hpp"
#include "node/watch/chronicle.hpp"
#include "policies/request_watch.hpp"

namespace troupe::node {

/// Why a run ended that was asked to.
inline constexpr const char* interrupted_text = "interrupted";

/// Why a run ended whose server was told so by its operator.
inline constexpr const char* ordered_text = "stopped by its operator";

/// Why it ended where its record may grow no further.
inline constexpr const char* record_full_text =
  "events.jsonl has as many MiB as 'events_max' allows; a larger bound or "
  "events = false would let it go on";

struct federation {
  const experiment& x;
  const workload& work;
  std::shared_ptr<actors::store> books; ///< Its lines have begun.
  std::shared_ptr<chronicle> watching;
  std::shared_ptr<actors::traffic> counted;
  std::shared_ptr<actors::vault> files = {}; ///< Clients'. Null: in memory.
  /// Becomes true when somebody wants the run to end in order. May be null.
  const std::atomic<bool>* stop = nullptr;
  /// What is in events.jsonl already.
  std::uint64_t events_bytes = 0;
  /// Becomes true when it may grow no further.
  std::shared_ptr<std::atomic<bool>> record_full =
    std::make_shared<std::atomic<bool>>(false);
  /// Does clients' work where it is asked for, under the wall clock: for work
  /// that is next to nothing.
  bool inline_work = false;
  /// Under the virtual clock: goes on from this; null: begins.
  std::shared_ptr<const actors::snapshot> resumed = {};
  /// What the books hold, which the node takes. Null: it reads them.
  actors::stored_node* found = nullptr;
  /// Under the wall clock: what its server and its clients meet at. Null:
  /// nothing but this process.
  std::shared_ptr<actors::server_hub> server_side = {};
  std::shared_ptr<actors::client_hub> client_side = {};
  /// Clients are in other processes. Null: in this one.
  const serving* serves = nullptr;
  /// Of the run's time, when this process begins with it.
  instant elapsed{};
  std::optional<actors::reception_args> reception = {}; ///< Then, theirs.
  offer_keeper keeps = {};                              ///< May be empty.
  /// Under the virtual clock: what a snapshot holds of those who watch. Empty:
  /// none is taken.
  std::function<void(actors::snapshot_draft&)> add_to_snapshot = {};
  /// What visits asked for, as the record has it. Empty: nobody knows.
  std::function<std::optional<policies::request_watch>()> asked = {};
  /// Where somebody may ask where the run stands. May be null.
  std::shared_ptr<status_desk> desk = {};
};

/// Why it ends in a process that cannot go on with it. Another one can where
/// clients outlive this one and what is durable is on disk: it is interrupted.
std::string as_it_ends(const federation& f, const std::string& why);

/// Runs until it is over; the chronicle says how it ended. Returns an error if
/// it could not begin. On return no thread and no actor of it is left.
[[nodiscard]] result<void> run_federation(const federation& f);

} // namespace troupe::node
