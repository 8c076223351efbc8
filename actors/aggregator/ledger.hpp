#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <variant>
#include <vector>

#include "actors/aggregator/line_rules.hpp"
#include "actors/messages/arrivals.hpp"
#include "actors/metrics/status.hpp"
#include "core/clock.hpp"
#include "models/layout.hpp"
#include "policies/visit_window.hpp"

namespace troupe::actors {

/// Values of a line's versions, block by block.
using version_values = std::map<version, std::vector<shared_values>>;

/// The books of one version line: what is pending, what is being merged, what
/// waits to be durable, which version is the head. Knows nothing of actors or
/// threads, and of time what it is told.
///
///   offer() ─► pending ─next()─► merging ─merged()─► due ─next()─► storing
///                 ▲                 │                 ▲               │
///                 └─── failed() ────┘                 └── failed() ───┤
///                                                   committed() ◄─────┘
///
/// At most one request is in flight, hence versions form a line and not a tree.
/// A failed merge may be done over with other offers. A failed commit may have
/// happened, so only the very same one can follow it.
///
/// A batch is `buffer_size` offers in the order of arrival, `client_most` of
/// one client, or, with `by_round`,
/// exactly this line's part of the list in `close()`, once all of it is here.
/// What waited until it was too stale is refused, so none that is merged is.
///
/// Offers that do not fit in memory wait on disk, and with `durable_offers` all
/// of them are there:
///
///   offer() ─► arriving ─kept()─► pending ─► …         (merged: dropped)
///                 │                  └─ refused ─► leaving ─dropped()─► answer
///                 └─not_kept()─► refused: overloaded
///
/// A refusal is said when the file is gone: what the next process finds is not
/// answered.
class ledger {
public:
  struct options : line_rules {
    line_id line;
    std::vector<models::block_layout> blocks;
    std::size_t history_bytes_max = ~std::size_t{0};
    version head_last{~std::uint64_t{0}}; ///< The run has no versions after it.
    /// There is a disk for offers that wait, of whose values so much are held.
    bool spools = false;
    std::uint64_t values_bytes_max = ~std::uint64_t{0};
  };

  /// What is durable, and thus all that a restart finds.
  struct durable {
    version head{};
    round_number round{}; ///< The last that made a version.
    std::vector<messages::merged_block> blocks;
    policies::visit_windows merged{};
    std::uint64_t admitted = 1;
  };

  /// What the owner is to ask the merger or the archivist for.
  using request =
    std::variant<messages::merge_requested, messages::commit_requested,
                 messages::version_wanted, messages::part_wanted>;

  /// What the owner is to tell others: the gateway, the director, everybody.
  using notice = std::variant<
    messages::part_answered, messages::part_held, messages::part_taken,
    messages::version_published, messages::round_merged, messages::parts_lacked,
    messages::line_ended, messages::keep_requested, messages::drop_requested>;

  ledger(options opts, durable found);

  /// It is `now`. Only `status()` depends on it: how long offers were pending.
  void pass(instant now);

  /// Decides about an offer. It is answered by a notice: at once if it is
  /// refused, else when the version that holds it is committed, or it is
  /// withdrawn.
  void offer(const messages::part_offered& x);

  /// Takes up parts that a process before this one kept, without their values.
  void take_up(std::vector<messages::part_offered> found);

  /// Answers as for an offer whose values its client has no more: if it is not
  /// here, it is over.
  void await(visit_id x);

  /// A part that was to be kept on disk is there, or may not be.
  void kept(visit_id x);
  void not_kept(visit_id x);

  /// Parts are gone from the disk.
  void dropped(const std::vector<visit_id>& visits);

  /// They are still there.
  void not_dropped(const std::vector<visit_id>& visits);

  /// Asks once more for what is to be dropped, and is not being asked for.
  void drop_again();

  /// Names the visits of a round. A second list for the same round replaces the
  /// first unless that is being merged already; of what was listed, it merges
  /// what it has.
  void close(const messages::round_closed& x);

  /// Withdraws what is pending of a visit that no list names or will name.
  void drop(visit_id x);

  void admitted(std::uint64_t clients);

  /// Starts what is due, if nothing is in flight.
  std::optional<request> next();

  /// Ends the merge in flight with its result. @pre `x.base == head()`
  void merged(const messages::merge_finished& x);

  /// Ends the commit in flight: its version is the head.
  void committed();

  /// Ends the search for the base of some offer. Without it the offers on that
  /// base are refused.
  void found(const messages::version_wanted& what,
             const messages::version_read& x);

  /// Ends the reading of a part whose values were on disk.
  void found(const messages::part_offered& x);

  /// Ends the request in flight without a result.
  void failed();

  /// Withdraws what is pending and refuses what comes; the run is over. A
  /// notice says when nothing is in flight any more.
  void end();

  std::vector<notice> take_notices();

  version head() const noexcept {
    return found_.head;
  }

  /// Neither a request in flight nor one that failed and waits.
  bool idle() const noexcept {
    return !in_flight_ && !due_;
  }

  /// Where it stands; what it cannot know is left out.
  line_status status() const;

  /// What a snapshot keeps of it; the rest is durable already.
  /// @pre `idle()`, and nothing of it is on disk
  static constexpr auto fields(auto& x) {
    return std::tie(x.found_.admitted, x.ended_, x.end_told_, x.kept_,
                    x.dropped_, x.turned_away_, x.held_back_, x.pending_,
                    x.closed_, x.done_round_, x.history_, x.answers_,
                    x.staleness_);
  }

private:
  using pending_list = std::deque<messages::part_offered>;

  /// Merged or refused, while it is not gone from the disk. Who is refused
  /// hears so then.
  struct leaving {
    std::optional<policies::verdict> unsaid = {};
    std::optional<messages::part_taken> also = {}; ///< For the director.
    bool asked = true; ///< The archivist has yet to answer.
  };

  policies::verdict judge(const messages::part_offered& x) const;
  void turn_away(const messages::part_offered& x, policies::verdict why);
  void receive(messages::part_offered x);
  void say_held(visit_id x);
  bool is_to_be_kept(const messages::part_offered& x) const;
  bool fits(const messages::part_offered& x) const;
  void settle(visit_id visit, policies::verdict what,
              std::optional<messages::part_taken> also = {});
  void forget_files(const std::vector<visit_id>& visits);
  bool is_about_to_be_answered(visit_id x) const;
  bool is_to_be_struck(visit_id x) const;
  void say_refusal(visit_id x, policies::verdict what);
  void say_held_back();
  std::optional<visit_id> values_to_read() const;
  void remember_turned_away(const messages::part_offered& x);
  void remember_dropped(visit_id x);
  bool has_bound() const noexcept { ///< For each client.
    return options_.client_most < options_.buffer_size;
  }

  bool batch_is_complete() const;
  void take_batch();
  void count_wait(visit_id x);
  void withdraw_batch();
  bool can_be_aimed(const messages::part_offered& x) const;
  void finish_round();
  void say_lacking();
  void refuse(const messages::part_offered& x, policies::verdict why);
  void withdraw_pending(bool all);
  bool is_past(const messages::part_offered& x) const;
  void refuse_stale();
  bool is_listed(visit_id x) const;
  bool is_here(visit_id x) const;
  messages::round_closed own_part_of(messages::round_closed x) const;
  bool names_me(const messages::closed_visit& x) const;
  void answer(visit_id visit, policies::verdict what);
  void remember_head();
  std::optional<version> base_to_find() const;
  std::vector<std::size_t> next_batch() const;
  bool sums_over_clients() const;

  options options_;
  durable found_;
  bool in_flight_ = false;
  bool ended_ = false;
  bool end_told_ = false;
  std::set<visit_id> kept_; ///< Arriving, pending, merging or due.
  std::map<visit_id, messages::part_offered> arriving_;
  std::map<visit_id, bool> files_; ///< Which may be there, and surely are.
  std::map<visit_id, leaving> leaving_;
  /// Refused of a list of before: said when they are struck off it.
  std::map<visit_id, policies::verdict> held_back_;
  std::set<visit_id> dropped_; ///< `withdrawn`: of a client the newest 64.
  /// What offers were that it refused: only the same may come again.
  std::map<visit_id, std::uint64_t> turned_away_;
  std::uint64_t offers_needed_ = 1; ///< By the rules of its blocks.
  pending_list pending_;
  std::vector<messages::part_offered> merging_;
  std::uint64_t merged_over_ = 0; ///< Clients that the sums in it are over.
  std::optional<messages::commit_requested> due_;
  std::optional<messages::round_closed> closed_;
  round_number done_round_{}; ///< The last that is closed and settled.
  version_values history_;    ///< With target_is_model.
  verdict_counts answers_{};
  staleness_counts staleness_; ///< Of what was merged.
  duration_sum waits_;         ///< Of what was or is pending, until `passed_`.
  std::map<visit_id, instant> since_; ///< What is pending came.
  duration_counts buffered_;          ///< Of what went to a merge.
  instant passed_{};
  std::vector<notice> notices_;
};

/// What merging `batch`, sorted by visit, into the head takes. @pre with
/// `target_is_model`, `known` has the base of each part
messages::merge_requested
merge_of(const ledger::options& how, const ledger::durable& head,
         std::span<const messages::part_offered> batch,
         const version_values& known);

/// What a ledger of one line goes by.
ledger::options ledger_options(const line_rules& rules,
                               const models::layout& blocks,
                               const models::line_layout& line);

} // namespace troupe::actors
