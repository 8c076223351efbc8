#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "actors/director/parts.hpp"
#include "actors/messages/arrivals.hpp"
#include "actors/messages/internal.hpp"
#include "actors/metrics/status.hpp"
#include "core/by_client.hpp"
#include "core/clock.hpp"
#include "core/limits.hpp"
#include "policies/invitations.hpp"
#include "policies/pacing.hpp"
#include "policies/visit_window.hpp"

namespace troupe::actors {

/// The course of a run: who is invited when, when a round or window closes,
/// when it is over. Knows nothing of actors; each call returns what is to be
/// said.
///
///   joined ─► saved ─► invited ─► part_taken (all lines) ─► offered
///
///   sync:     n offered, or the deadline ─► close ─► saved ─► round_closed
///   semisync: the window's end           ─► close ─► saved ─► round_closed
///   fedbuff, fedasync: each line merges when its buffer is full
///
/// What a restart must not forget is saved before it is acted upon: the numbers
/// given to clients, the indices of invitations, a round's cohort and its list.
///
/// Where the recipe has last visits, they come when all lines have ended: the
/// run is over when each client that has a part in a version had its own.
class course {
public:
  struct options {
    pace_kind mode = pace_kind::fedbuff;
    std::vector<line_id> lines;
    std::optional<line_id> lead;
    std::uint32_t clients_per_round = 10; ///< `sync`: n.
    double over_selection = 1;            ///< A factor: 1.3 invites 30 % more.
    std::uint32_t quorum = 0;             ///< 0: all of n.
    instant round_deadline = std::chrono::hours{1};
    std::uint32_t concurrency = 10; ///< All other paces.
    bool refill_by_version = false;
    instant window = std::chrono::seconds{10};
    policies::budget budget;
    std::optional<policies::stop_rule> stop;
    policies::invitation_options selection;
    state_rule state = state_rule::on_offer;
    instant visit_timeout = std::chrono::hours{24};
    /// Who has not come so long after the first is not waited for; 0: it is.
    instant silence_max{};
    /// When an invitation is said again, since it or what came of it may be
    /// lost: after this, then twice as late each time.
    instant invitation_first = std::chrono::seconds{10};
    instant invitation_retry = std::chrono::hours{1}; ///< And no later.
    instant decline_pause = std::chrono::seconds{1};
    std::uint64_t clients_expected =
      1; ///< The first invitation waits for so many.
    /// A client whose visits fail so often in a row is left alone for a while,
    /// which doubles with each further one; 0: it is invited all the same.
    std::uint32_t failures_max = 3;
    instant alone_first = std::chrono::minutes{1};
    instant alone_max = std::chrono::hours{1};
    bool offers = true; ///< Visits of the recipe do.
    /// Where they do not, and there are no rounds: so many visits count as one,
    /// which would have made a version; 0: none do.
    std::uint64_t batch = 0;
    std::optional<std::uint32_t> last_role = {}; ///< Of last visits, if any.
    /// What merges need so many of: no round or window closes with fewer.
    std::uint64_t offers_needed = 1;
    /// So many visits that end without a part of a version, since there was the
    /// last one, end the run, if they are of half the clients or of as many; 0:
    /// it goes on.
    std::uint64_t fruitless_max = 0;
    /// Who drops out does not fail; so many in that time end the run as well.
    std::uint64_t dropped_max = 0;
    /// Clients are not ours: of whom nothing comes is asked again later each
    /// time, whatever it says and however often it says hello.
    bool strangers = true;
    /// Nobody is invited while what is under way and what waits to be merged
    /// may take more. @pre as much as what makes one version or round
    std::uint64_t bytes_max = ~std::uint64_t{0};
    std::map<line_id, std::uint64_t> line_bytes = {}; ///< Of a whole part.
  };

  /// What is durable, and thus all that a restart finds.
  struct durable {
    std::map<client_id, messages::client_record> clients;
    std::uint64_t index_upto = 0;
    messages::round_record round;
    std::map<line_id, version> heads;
    policies::visit_windows merged = {}; ///< Into some line.
    policies::stopper_state stopper = {};
    std::uint64_t updates = 0;      ///< Visits of which a line merged a part.
    std::uint64_t fruitful = 0;     ///< Rounds before `round` with a version.
    bool round_has_version = false; ///< And `round`, of some line.
    messages::course_end end{};     ///< Since when there are last visits.
    std::set<client_id> had_last = {};
  };

  struct skipped {
    policies::skip what;
  };

  using action =
    std::variant<messages::invitation_made, messages::visit_withdrawn,
                 messages::round_closed, messages::clients_admitted,
                 messages::line_closing, messages::save_requested,
                 messages::visit_dropped, messages::run_finished,
                 messages::client_began_anew, messages::client_failed,
                 messages::round_counted, skipped>;
  using actions = std::vector<action>;

  course(options opts, durable found);

  [[nodiscard]] actions joined(const messages::client_joined& x, instant now);
  [[nodiscard]] actions left(const messages::client_left& x, instant now);
  [[nodiscard]] actions taken(const messages::part_taken& x, instant now);
  /// What is `withdrawn` is not merged either, unless a list names it.
  [[nodiscard]] actions failed(const messages::visit_failed& x, instant now);
  [[nodiscard]] actions published(const messages::version_published& x,
                                  instant now);
  [[nodiscard]] actions merged(const messages::round_merged& x, instant now);
  /// What its client has no more is struck off the list, and what is refused.
  [[nodiscard]] actions lacking(const messages::parts_lacked& x, instant now);
  [[nodiscard]] actions ended(const messages::line_ended& x, instant now);
  [[nodiscard]] actions saved(std::uint64_t token, instant now);
  [[nodiscard]] actions evaluated(const messages::evaluation_finished& x,
                                  double metric, instant now);
  /// At once. Last visits are for who has done all that was planned.
  [[nodiscard]] actions finish(messages::run_finished why, instant now);
  [[nodiscard]] actions due(instant now);

  /// When `due` is to be called, at the latest.
  std::optional<instant> next_due() const;

  std::uint64_t rounds_closed() const noexcept {
    return rounds_;
  }

  std::uint64_t visits_open() const noexcept {
    return open_count_;
  }

  std::uint64_t invitations() const noexcept {
    return invitations_.made();
  }

  /// Where it stands; whether a save failed it cannot know.
  course_status status(instant now) const;

  /// No save is under way and the run goes on: a snapshot may be taken.
  bool at_rest() const noexcept {
    return !saving_ && !finishing_;
  }

  /// What a snapshot keeps. @pre `at_rest()`
  static constexpr auto fields(auto& x) {
    return std::tie(
      x.clients_, x.candidates_, x.open_count_, x.lost_, x.loose_, x.pending_,
      x.pending_bytes_, x.voided_, x.alarms_, x.loose_until_, x.pauses_,
      x.changed_, x.unsettled_, x.free_, x.invitations_, x.heads_, x.stopper_,
      x.phase_, x.round_, x.offered_, x.done_, x.unmerged_, x.left_out_,
      x.deadline_, x.missing_, x.over_, x.list_is_told_again_, x.first_came_,
      x.listed_at_, x.strike_at_, x.rounds_, x.token_, x.unsaved_,
      x.stopper_is_dirty_, x.round_is_dirty_, x.round_is_saved_, x.index_asked_,
      x.index_saved_, x.updates_, x.fruitless_, x.dropped_, x.round_has_gaps_,
      x.round_has_version_, x.fruitless_clients_, x.versions_seen_, x.in_vain_,
      x.done_ever_, x.failed_ever_, x.failure_, x.failing_, x.barren_,
      x.round_is_barren_, x.stale_, x.empty_, x.given_up_, x.admitted_,
      x.joins_, x.anew_, x.leaves_, x.losses_, x.started_, x.refill_, x.ended_);
  }

private:
  static constexpr instant never = instant::max();

  enum class phase : std::uint8_t { idle, opening, open, closing, merging };

  // course.cpp
  void carry_on(actions& out, instant now);
  void look_at_visits(actions& out, instant now);
  void set_alarm(visit_id x, open_visit& v);
  void drop_alarms();
  open_visit* find_open(visit_id x); ///< Null: it is not open.
  void reckon(instant now);
  bool may_start() const;
  void fill(actions& out, instant now);
  bool has_index();
  std::optional<messages::ticket> next_ticket(actions& out, instant now);
  messages::ticket ticket_of(const policies::choice& turn, instant now);
  void open_visit_of(const messages::ticket& pass, instant now);
  messages::invitation_made invitation(const messages::ticket& pass) const;
  void take_up(const messages::ticket& pass, actions& out, instant now);
  bool is_with_lines(visit_id x) const;
  policies::candidate* candidate_of(client_id x); ///< Null: it is not here.
  bool begins_anew(const messages::client_joined& x);
  visit_number newest_listed(client_id of) const;
  void offered(visit_id x, const open_visit& v, instant now);
  void close_visit(visit_id x);
  void settle(visit_id x, line_id line);
  static bool is_busy(const client_entry& x, instant now);
  void note_failure(const messages::visit_failed& x, actions& out, instant now);
  void refused(const messages::part_taken& x, const part_verdicts& parts,
               actions& out, instant now);
  void note_fruitless(client_id x);
  void bears_fruit(client_id x, actions& out);
  void came_to_nothing(client_id x, instant now);
  void leave_alone(client_id x, instant now);
  void forgive(client_id x);
  std::optional<messages::run_finished> reason_to_end(instant now) const;
  bool is_left_alone(const client_entry& x, instant now) const;
  std::uint64_t left_alone(instant now) const; ///< Of those who are here.
  /// These, and those of whom nothing came lately.
  std::uint64_t not_counted_on(instant now) const;
  bool nobody_can_be_invited(instant now) const;
  std::uint64_t indices_wanted() const;
  policies::spent_budget spent(instant now) const;
  bool budget_spent(instant now) const;

  // course_status.cpp
  std::uint64_t at_work() const;
  std::string failures_text() const;

  // course_finish.cpp
  actions end(messages::course_end why, instant now);
  actions end_if_due(instant now);
  bool is_owed(client_id x) const;
  bool is_in_last_visits() const;
  bool last_visits_are_over(actions& out, instant now);
  void begin_last_visits(instant now);
  void invite_last(actions& out, instant now);
  bool is_done_since(const messages::visit_failed& x) const;
  void last_visit_ended(const messages::visit_failed& x, actions& out,
                        instant now);
  void wait_no_more_for(client_id x, actions& out);
  void drop_last_visits(actions& out);
  std::string without_last_visit() const;
  std::uint64_t rounds_counted() const noexcept;
  instant last_comers_at() const;
  instant time_for_visit() const;

  // course_loose.cpp
  void give_up(visit_id x, instant now);
  void expire(visit_id x, actions& out, instant now);
  void take_loose(const messages::part_taken& x, instant now);
  void list_no_more(visit_id x, line_id of);
  void drop_loose(actions& out, instant now);
  void drop_offer(visit_id x, actions& out);
  bool is_on_a_list(visit_id x, std::optional<line_id> of = {}) const;

  // course_rounds.cpp
  std::uint64_t complete() const noexcept {
    return offered_.size() + done_;
  }
  void resume_round(std::uint64_t fruitful);
  void open_round(actions& out, instant now);
  void announce_cohort(actions& out, instant now);
  void consider_closing(actions& out, instant now);
  void close_round(std::size_t count);
  void announce_list(actions& out, instant now);
  void will_not_come(visit_id x, std::optional<line_id> to, instant now);
  void look_for_missing(client_id of, instant now);
  bool is_gone(visit_id x, bool is_late) const;
  void strike_missing(instant now);
  void pause(client_id x, instant until);
  void invite_again(visit_id x, open_visit& v, instant now);

  // course_room.cpp
  bool note_kept(const messages::part_taken& x, actions& out);
  void note_gone(visit_id x, line_id line);
  std::uint64_t bytes_of(line_id line) const;
  std::uint64_t bytes_held() const;
  bool has_room() const;

  /// Visits that somebody is at work on, as far as anybody knows.
  std::size_t awaited() const noexcept {
    return open_count_ - lost_.size();
  }

  void save(actions& out);

  options options_;
  by_client<client_entry> clients_;
  std::vector<policies::candidate> candidates_; ///< Who is here, sorted.
  std::size_t open_count_ = 0;
  std::set<visit_id> lost_; ///< Of these, of clients that fell silent.
  /// Under `semisync`: visits that are not open any more, or that a restart
  /// forgot, while lines hold parts of them. Those that are whole before
  /// `again` count; else the lines are told, or they would be full of them one
  /// day.
  std::map<visit_id, open_visit> loose_;
  /// Kept, not merged yet, and the bytes that it takes.
  std::map<std::pair<visit_id, line_id>, std::uint64_t> pending_;
  std::uint64_t pending_bytes_ = 0;
  policies::visit_windows voided_; ///< Of clients that lost their key.
  /// When a visit runs out, or is to be said again: a heap, the next in front.
  /// What does not stand in the visit itself is of no meaning.
  std::vector<std::pair<instant, visit_id>> alarms_;
  instant loose_until_ = never; ///< When one of `loose_` may have run out.
  std::set<std::pair<instant, client_id>> pauses_; ///< Who is left alone.
  std::vector<client_id> changed_; ///< Whoever may be busy now and was not.
  std::set<client_id> unsettled_;  ///< Who has parts without a verdict.
  std::size_t free_ = 0;           ///< Clients that can be invited.
  policies::invitations invitations_;
  std::map<line_id, version> heads_;
  policies::stopper stopper_;

  phase phase_ = phase::idle;
  messages::round_record round_;
  std::set<offered_visit> offered_; ///< Of this round or window.
  std::uint64_t done_ = 0;     ///< Of these: ended well, with nothing to offer.
  std::set<line_id> unmerged_; ///< Lines still at the closed list.
  std::vector<visit_id> left_out_; ///< Of it: told when it is durable.
  instant deadline_{};             ///< Of the round or window.
  /// Parts of a list found closed that have not come again. Whoever has them no
  /// more must not be waited for: at `strike_at_` those are struck out, when
  /// the tickets are over all.
  std::set<std::pair<visit_id, line_id>> missing_;
  std::set<std::pair<visit_id, line_id>> over_; ///< On it, and refused.
  bool list_is_told_again_ = false; ///< By another process, or it was struck.
  instant first_came_ = never;      ///< Somebody, in this life.
  instant listed_at_ = never;       ///< When the list was first announced.
  instant strike_at_ = never;
  std::uint64_t rounds_ = 0;

  std::uint64_t token_ = 0; ///< Of the last save asked for.
  std::optional<messages::save_requested> saving_;
  std::set<client_id> unsaved_; ///< Whose records are to be saved next.
  bool stopper_is_dirty_ = false;
  bool round_is_dirty_ = false;
  bool round_is_saved_ =
    false; ///< The closed list is durable and not announced.
  std::uint64_t index_asked_ = 0;
  std::uint64_t index_saved_ = 0;

  std::uint64_t updates_ = 0; ///< Visits of which some line merged a part.
  /// Visits that ended without a part of a version, since there was one.
  std::uint64_t fruitless_ = 0;
  std::uint64_t dropped_ = 0;      ///< Visits that did so, in the same time.
  bool round_has_gaps_ = false;    ///< Where somebody dropped out.
  bool round_has_version_ = false; ///< The one that closes, of some line.
  std::uint64_t fruitless_clients_ = 0; ///< Of whom the former were.
  std::uint64_t versions_seen_ = 1;
  std::set<client_id> in_vain_; ///< Whose last visits came to nothing.
  std::uint64_t done_ever_ = 0; ///< Visits that ended well.
  std::uint64_t failed_ever_ = 0;
  std::optional<messages::visit_failed> failure_; ///< The last.
  std::set<client_id> failing_;  ///< So often that they may be left alone.
  std::uint64_t barren_ = 0;     ///< Rounds of which nothing came.
  bool round_is_barren_ = false; ///< The one that closes.
  std::uint64_t stale_ = 0;      ///< Parts too stale, since one was kept.
  std::uint64_t empty_ = 0; ///< Rounds or windows without an offer, in a row.
  std::uint64_t given_up_ = 0; ///< Rounds below their quorum, in a row.
  std::uint64_t admitted_ = 0; ///< Clients that lines have heard of.
  std::uint64_t joins_ = 0;
  std::uint64_t anew_ = 0; ///< Clients that had lost what they had kept.
  std::uint64_t leaves_ = 0;
  std::uint64_t losses_ = 0;
  bool started_ = false;
  bool refill_ = true;
  std::optional<messages::run_finished> finishing_;
  bool told_ = false;
  std::set<line_id> ended_;

  messages::course_end end_{}; ///< None: there are no last visits.
  bool end_is_saved_ = false;
  std::optional<instant> last_visits_began_;
  std::set<client_id> owed_;     ///< A last visit.
  std::set<client_id> callable_; ///< Of these, who may be free.
  std::set<client_id> had_last_;
  std::vector<visit_id> unsaved_last_; ///< Their last visits, to be saved next.
  std::map<client_id, std::uint32_t> tries_; ///< That came to nothing.
  bool late_comers_are_lost_ = false;
};

} // namespace troupe::actors
