#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "actors/gateway/allowed.hpp"
#include "actors/messages/arrivals.hpp"
#include "core/clock.hpp"
#include "core/limits.hpp"
#include "core/recipe.hpp"
#include "models/layout.hpp"
#include "policies/admission.hpp"
#include "policies/visit_window.hpp"

namespace troupe::actors {

/// What clients may still do with their tickets. A visit fetches the lines of
/// its recipe's legs, of which its choice allows it some (`allowed_choices`),
/// each line again only after a time that doubles and four times at most, and
/// offers to what it fetched. A ticket that was declined, or offered on, serves
/// nothing more; offers on it are said again until they are answered.
///
/// Of each client the newest invitation is remembered, and which of the last 64
/// were offered on: it works on one at a time. What was said on invitations
/// from before a restart is not known; from then on it is, of as many as a
/// client may have open or unanswered, and others serve nothing.
class grants {
public:
  /// Of one line to one visit: answers may be lost.
  static constexpr std::uint32_t serves_max = 4;

  /// Visits from before a restart: one at work, and offers.
  static constexpr std::size_t older_max = limits::outbox_offers_max + 1;

  /// So long a line is not served again in one session, since it is on its way;
  /// then twice as long. Who asks a minute after the first time once more is
  /// withdrawn.
  static constexpr instant again_after = std::chrono::seconds{4};

  enum class standing : std::uint8_t {
    first, ///< Of its ticket.
    again, ///< It, or another one on its ticket, was here before.
    over,  ///< Its ticket serves nothing more, and none was offered on it.
    lost,  ///< It stands on versions that this server never had.
  };

  /// @param found the versions that this process began with
  grants(const recipe& method, const models::layout& blocks,
         std::map<line_id, version> found = {},
         std::set<visit_id> arrived = {});

  /// Whether it is not the same invitation again.
  /// @param earlier it was invited before a restart, and what it did since is
  /// forgotten
  bool invited(visit_id x, bool earlier = false);

  /// The client came back, and what was on its way to it is lost.
  void came_back(client_id x);

  /// As `shut`. Whether that is for the record, which has it once: who says
  /// again and again that it is at work on what is over is answered each time.
  bool withdrawn(visit_id x);

  bool is_withdrawn(visit_id x) const;

  /// Nor is an offer on it, or another one instead.
  void ended(visit_id x);

  /// The ticket serves nothing more, though an offer may be on its way. Whether
  /// it did until now, or is of before a restart and may have.
  bool shut(visit_id x);

  /// All tickets of the client that are known serve nothing more. Says on which
  /// there was an offer that is not answered.
  std::vector<visit_id> voided(client_id x);

  struct refusal {
    policies::verdict why;
    bool ends = false; ///< The visit, which was open.
  };

  /// Leaves in it what is served now, or says why nothing is.
  std::optional<refusal> fetch(messages::fetch_requested& x, instant now);

  /// @param queued it waits behind others on its way, and is not sent again: it
  /// counts as one with what was before
  void is_served(const messages::line_served& x, bool queued);

  /// Whether no other one was made on its ticket, and one may be.
  bool is_first(const messages::offer_made& x);

  /// An offer of which nothing else is known to be wrong; `malformed` if it is
  /// to a line that the visit did not fetch, says of its request what is not
  /// so, or is on a last visit. Lost is one on a version of before a restart
  /// that this process began without: a copy of the folder was put back, and
  /// what has that number now is something else.
  tl::expected<standing, policies::verdict>
  offer(const messages::offer_made& x);

  /// Asks after it. A line that does not know of it refuses it, which is for
  /// the record.
  std::vector<messages::part_awaited> await(const messages::offer_awaited& x);

  /// Whether the visit is from before a restart, and the record does not have
  /// its beginning again yet.
  bool is_to_be_noted(visit_id x);

  /// Whether a line may have it, though its ticket serves nothing more: what was
  /// said on an invitation from before a restart lines alone know.
  bool lines_may_have(const messages::offer_made& x);

  /// To which it offers.
  std::set<line_id> lines_of(const messages::offer_made& x) const;

  /// What it trained on, as it would have been served, leg by leg, where the
  /// record does not say: of a visit from before a restart, or which was served
  /// a line twice and has not offered. Without what it was not served.
  std::vector<messages::line_served> fetched_for(const messages::offer_made& x);

  /// Whether the line may still take the visit's offer: not if what came
  /// `first` was not to it, and the record does not have it, nor if the line
  /// has said what becomes of it.
  bool is_offered(visit_id x, line_id to);

  /// The line says what becomes of it. Whether that is for the record, which
  /// has each refusal once; versions say what was accepted.
  bool answered(visit_id x, line_id by, policies::verdict what);

  /// Whether this is the first that is heard of how the visit ended.
  bool decline(visit_id x);

  static constexpr auto fields(auto& x) {
    return std::tie(x.newest_, x.older_, x.withdrawn_);
  }

private:
  enum class place : std::uint8_t { open, turned_away };

  struct service {
    std::uint32_t times = 0;
    instant again{}; ///< Not before.
    bool twice = false;
    version newest{}; ///< That was.

    static constexpr auto fields(auto& x) {
      return std::tie(x.times, x.again, x.twice, x.newest);
    }
  };

  struct entry {
    visit_number since{}; ///< The first that is known of.
    visit_number newest{};
    bool serves = false;                    ///< The newest one may fetch.
    bool open = false;                      ///< And offer.
    std::map<line_id, service> served = {}; ///< To it.
    policies::visit_window offered = {};
    /// To which lines that have not said what becomes of it, of the newest.
    std::map<visit_number, std::map<line_id, place>> offered_to = {};

    static constexpr auto fields(auto& x) {
      return std::tie(x.since, x.newest, x.serves, x.open, x.served, x.offered,
                      x.offered_to);
    }
  };

  /// A visit from before a restart, and what was said on it since.
  struct older_visit {
    bool serves = true;
    bool open = true;
    bool offered = false;
    bool awaited =
      false;            ///< Some of its parts were offered to a server before.
    bool noted = false; ///< In this process's record.
    std::map<line_id, service> served = {};
    std::map<line_id, place> offered_to = {};

    std::set<line_id> refused_by = {}; ///< Without an offer in this process.

    static constexpr auto fields(auto& x) {
      return std::tie(x.serves, x.open, x.offered, x.awaited, x.noted, x.served,
                      x.offered_to, x.refused_by);
    }
  };

  /// Null for what was not invited in this life.
  entry* find(visit_id x);

  /// Of what was not; null where the client has named too many.
  older_visit* find_older(visit_id x);

  bool is_earlier(visit_id x);

  bool stands_on_lost(const messages::offer_made& x,
                      const older_visit& who) const;

  tl::expected<standing, policies::verdict>
  offer_older(const messages::offer_made& x);

  static std::vector<line_id>
  lines_in(const std::map<line_id, service>& served);

  /// Of a visit of this process, which has not offered.
  bool is_served_twice(visit_id x) const;

  /// Leaves in it what may be served now. Returns whether nothing came too
  /// often.
  static bool serve(messages::fetch_requested& x,
                    std::map<line_id, service>& served, instant now);

  /// Of one offer's parts. Whether it is for the record.
  static bool note_answer(std::map<line_id, place>& parts, line_id by,
                          policies::verdict what);

  bool is_of_leg(const messages::want& x, std::uint32_t leg) const;

  const models::layout* blocks_;
  std::map<line_id, version> found_;
  std::set<visit_id> arrived_; ///< Before a restart; may be merged since.
  allowed_choices allowed_;
  std::vector<std::set<line_id>> legs_; ///< All that one may fetch.
  std::map<client_id, entry> newest_;
  std::map<client_id, std::map<visit_number, older_visit>> older_;
  policies::visit_windows withdrawn_; ///< As the record has it.
};

} // namespace troupe::actors
