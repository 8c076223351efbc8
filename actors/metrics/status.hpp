#pragma once

// Where a run stands, for those who look at it from outside. Each actor adds
// its own part when it is asked, now and then; nobody reads an actor's state.

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "actors/record/names.hpp"
#include "core/clock.hpp"
#include "core/duration_counts.hpp"
#include "core/ids.hpp"
#include "core/recipe.hpp"
#include "policies/admission.hpp"

namespace troupe::actors {

/// A number of offers per verdict.
using verdict_counts = std::array<std::uint64_t, policies::verdict_count>;

/// What a merged offer's staleness is counted by: the largest of each bucket;
/// what is above the last has one of its own.
inline constexpr std::array<std::uint64_t, 10> staleness_bounds{
  0, 1, 2, 4, 8, 16, 32, 64, 128, 256};

struct staleness_counts {
  std::array<std::uint64_t, staleness_bounds.size() + 1> buckets{};
  std::uint64_t sum = 0;

  void add(std::uint64_t versions);

  void add(const staleness_counts& x);

  static constexpr auto fields(auto& x) {
    return std::tie(x.buckets, x.sum);
  }
};

/// What takes time, and how much of it was taken.
struct duration_sum {
  std::uint64_t count = 0;
  double seconds = 0;

  void add(double x) {
    ++count;
    seconds += x;
  }

  void add(const duration_sum& x) {
    count += x.count;
    seconds += x.seconds;
  }
};

/// One version line, by its aggregator.
struct line_status {
  enum class step : std::uint8_t { collecting, merging, storing };

  version head{};
  step at = step::collecting;
  std::uint64_t pending = 0;     ///< Offers that wait.
  std::uint64_t needed = 0;      ///< Of them for a version; 0: a round says.
  std::uint64_t pending_max = 0; ///< More are refused.
  verdict_counts answers{};
  staleness_counts staleness = {};
  duration_sum waits = {}; ///< Of offers that were taken, until they left.
  duration_counts buffered = {}; ///< Of those that went to a merge.
  duration_counts merges = {};
  duration_counts commits = {};
  std::uint64_t merged_bytes = 0;
  std::uint64_t mailbox = 0; ///< Messages that wait for the actor.
  std::string failure =
    {}; ///< Of the last merge or commit; empty: it succeeded.
  std::string unkept = {}; ///< Likewise, of the last offer for the disk.

  /// Makes of two lines what both are together.
  void add(const line_status& x);
};

/// The run's course, by its director.
struct course_status {
  enum class phase : std::uint8_t {
    gathering, ///< Before the first invitation: not all clients are here.
    between,   ///< No round is open, and none can be opened yet.
    opening,   ///< What an invitation needs is being stored.
    open,      ///< Clients are at work.
    closing,   ///< The round's list is being stored.
    merging,   ///< The lines are at the round's list.
    ending,
  };

  instant now{}; ///< Of the run's clock.
  pace_kind mode{};
  phase at = phase::gathering;
  bool saving = false; ///< Waits for the archivist.
  std::uint64_t round = 0;
  std::uint64_t complete = 0; ///< Offers that the round or window holds.
  std::uint64_t wanted = 0;   ///< Offers that close the round; 0: only time.
  std::uint64_t quorum = 0;   ///< Offers that do at the deadline.
  std::optional<instant> deadline = {}; ///< Of the round or window.
  std::uint64_t expected = 0; ///< Clients that the first invitation waits for.
  std::uint64_t known = 0;    ///< Clients that were ever here.
  std::uint64_t here = 0;
  std::uint64_t free = 0;    ///< Of those that are here.
  std::uint64_t at_work = 0; ///< Likewise: those that have a visit.
  std::uint64_t visits_open = 0;
  std::uint64_t visits_lost = 0; ///< Of these, of clients that fell silent.
  std::uint64_t bytes_held = 0;  ///< That offers under way or pending may take.
  std::uint64_t bytes_max = 0;
  bool full = false;                   ///< So nobody is invited.
  std::uint64_t stale_in_a_row = 0;    ///< Parts too stale, since one was kept.
  std::uint64_t empty_in_a_row = 0;    ///< Rounds or windows without an offer.
  std::uint64_t given_up_in_a_row = 0; ///< Rounds below their quorum.
  std::uint64_t joins = 0;
  std::uint64_t anew = 0;   ///< Clients that had lost what they had kept.
  std::uint64_t leaves = 0; ///< Clients that said so.
  std::uint64_t losses = 0; ///< Clients that fell silent.
  std::uint64_t failed = 0; ///< Visits that did.
  std::uint64_t alone = 0; ///< Clients that are not invited for their failures.
  std::uint64_t owed = 0;  ///< Clients whose last visits are to come, or going.
  double progress = 0;
  std::uint64_t mailbox = 0;
  std::string failure = {}; ///< Of the last save; empty: it succeeded.

  /// Clients that are here, neither at work nor free.
  std::uint64_t waiting() const;

  /// Clients that are not here, and were not lost with a visit.
  std::uint64_t away() const;
};

/// What the gateway let through and did not.
struct door_status {
  std::uint64_t sessions = 0;
  verdict_counts refusals{};        ///< Of whole visits.
  duration_counts round_trips = {}; ///< From invitations to whole offers.
  std::uint64_t mailbox = 0;
};

/// How much visits made use of the lines of one of several experts, by what
/// they offered and disclosed.
struct expert_load {
  double visits = 0;
  double rows = 0; ///< Examples of their clients.
};

/// How much they mixed.
struct entropy_sum {
  std::uint64_t count = 0;
  double sum = 0; ///< Each is from 0, one expert, to 1, all alike.
};

/// How often visits asked for an expert.
struct expert_requests {
  std::uint64_t first = 0; ///< Before all others.
  std::uint64_t asked = 0; ///< At any place.
};

/// The gate sends nearly all to one expert, or nobody to one.
struct routing_alarm {
  line_id line;
  std::string what; ///< "crowded", "deserted".
  std::string text;
};

/// What visits asked for, where the recipe has them say it.
struct request_status {
  std::map<line_id, expert_requests> experts = {};
  std::uint64_t visits = 0; ///< That asked.
  std::vector<routing_alarm> alarms = {};
};

/// What visits said of the experts that they use, by the director.
struct load_status {
  std::map<line_id, expert_load> experts = {};
  std::map<std::string, std::uint64_t> active = {};  ///< By family.
  std::map<std::string, entropy_sum> entropies = {}; ///< By disclosure.
  /// The recipe's own, of what clients disclosed last. Empty: of nothing.
  std::map<std::string, double> figures = {};
  request_status requests = {};
};

/// What the archivist does for others.
enum class storage_task : std::uint8_t { commit, save, read, keep, drop, note };

inline constexpr std::array<const char*, 6> storage_task_names{
  "commit", "save", "read", "keep", "drop", "note"};

using storage_times = std::array<duration_counts, storage_task_names.size()>;

/// The threads that do clients' work.
struct crew_status {
  struct task {
    visit_id visit = {};
    double seconds = 0; ///< That it is under way.
  };

  std::uint64_t workers = 0;
  std::uint64_t queued = 0;
  std::vector<task> under_way = {};
  duration_counts waits = {};
  duration_counts work = {};    ///< Of visits: their training.
  duration_counts choices = {}; ///< Of legs, before that.
};

/// What a process takes of its machine.
struct process_outlay {
  double cpu_seconds = 0;
  std::uint64_t memory_bytes = 0;
  double began_seconds = 0; ///< Since 1970.
  std::uint64_t files_open = 0;
  std::uint64_t files_max = 0;
  /// Of the machine's memory or its container's, by whomever.
  std::uint64_t machine_bytes = 0;
  std::uint64_t machine_bytes_max = 0;
  std::uint64_t disk_free_bytes = 0; ///< Of the disk with its folder, if any.
  std::uint64_t disk_size_bytes = 0;
};

/// Readers of the pages of a process.
struct reader_status {
  std::map<std::string, duration_counts> requests = {}; ///< By page.
  std::uint64_t connections = 0;
};

/// What actors add, from their threads; twice a second nobody waits for the
/// lock.
class status_draft {
public:
  struct parts {
    std::optional<course_status> course;
    std::optional<door_status> door;
    std::map<line_id, line_status> lines;
    std::optional<load_status> load;
    std::optional<storage_times> storage;
    std::map<std::string, std::uint64_t> mailboxes; ///< Of other actors.
    std::map<line_id, std::uint64_t> readers;       ///< Likewise, of experts.
  };

  void add(const course_status& x) {
    const std::lock_guard guard{mutex_};
    parts_.course = x;
  }

  void add(const door_status& x) {
    const std::lock_guard guard{mutex_};
    parts_.door = x;
  }

  void add(line_id line, const line_status& x) {
    const std::lock_guard guard{mutex_};
    parts_.lines[line] = x;
  }

  void add(const load_status& x) {
    const std::lock_guard guard{mutex_};
    parts_.load = x;
  }

  void add(const storage_times& x) {
    const std::lock_guard guard{mutex_};
    parts_.storage = x;
  }

  void add_mailbox(const char* actor, std::uint64_t messages) {
    const std::lock_guard guard{mutex_};
    parts_.mailboxes[actor] = messages;
  }

  void add_mailbox(line_id of_expert, std::uint64_t messages) {
    const std::lock_guard guard{mutex_};
    parts_.readers[of_expert] = messages;
  }

  /// All that was added until now.
  parts taken() const {
    const std::lock_guard guard{mutex_};
    return parts_;
  }

private:
  mutable std::mutex mutex_;
  parts parts_;
};

/// Snapshots that could not be kept.
struct lost_snapshots {
  std::uint64_t count = 0;
  std::string why; ///< Of the last; empty: one was kept since.
};

/// All that can be seen of a run from outside.
struct run_status {
  // What it is.
  std::string name;
  std::string id; ///< Its folder's name.
  std::string method;
  std::string mode;
  std::string clock;
  std::map<line_id, std::string> line_names;
  std::map<std::string, std::uint64_t> heads; ///< By block.

  // Where it stands.
  instant at{};                 ///< Of the run's clock.
  std::int64_t now_ms = 0;      ///< Of this status; since 1970, like the next.
  std::int64_t answered_ms = 0; ///< When its actors said where they stand.
  std::int64_t progress_ms = 0; ///< When last a visit or a version was done.
  std::optional<course_status> course; ///< None: it has not begun.
  std::optional<door_status> door;
  std::map<line_id, line_status> lines;
  load_status load;
  std::map<std::string, std::uint64_t> mailboxes; ///< By actor.
  std::map<line_id, std::uint64_t> readers;       ///< Mailboxes of experts.
  crew_status crew;
  std::string obstacle; ///< What cannot be stored, and holds all up.
  std::string broken; ///< Why its actors are made anew; empty: they are there.
  bool over = false;
  std::string reason; ///< Why it ended.

  // What it did.
  std::uint64_t visits = 0;
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  std::uint64_t frames_malformed = 0;
  std::uint64_t restarts = 0;              ///< Of its actors, in this process.
  std::map<score_name, double> evaluation; ///< The last.
  std::map<std::string, double> results;   ///< The method's, likewise.

  // What it takes.
  std::uint64_t ledger_bytes = 0;
  std::uint64_t record_bytes = 0;     ///< Of events.
  std::uint64_t record_bytes_max = 0; ///< 0: there are none.
  std::uint64_t arrivals_bytes = 0;
  storage_times storage{};
  duration_sum checkpoints; ///< Snapshots of a simulated run.
  lost_snapshots lost;
  process_outlay own;
};

} // namespace troupe::actors
