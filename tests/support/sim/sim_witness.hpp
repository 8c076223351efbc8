#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "actors/client/client_file.hpp"
#include "actors/publisher/publisher.hpp"
#include "tests/support/sim/faults.hpp"
#include "tests/support/sim/sim_store.hpp"
#include "tests/support/world.hpp"

namespace troupe::test {

/// What clients were told of their offers, whether or not they heard it.
struct answers_given {
  std::set<std::pair<visit_id, line_id>> by_line;
  std::set<visit_id> refused;                     ///< As a whole.
  std::set<std::pair<visit_id, line_id>> durable; ///< So they are held.
  const models::layout* blocks = nullptr;
};

/// Hears all that is said between a server and its clients, and knows what may
/// not be: words about what is not stored, and offers that nobody answers.
class sim_witness {
public:
  struct parts {
    const world& w;
    const models::layout& blocks;
    sim_store& store;
    offers_made& made;
    answers_given& answers;
    tally& happened;
    const recipe& method;
  };

  explicit sim_witness(parts x) : x_(x) {
    // nop
  }

  void server_said(client_id to, const messages::any_message& x);
  void client_said(client_id from, const messages::any_message& x);

  /// An intact frame is in the server's mailbox.
  void server_heard(client_id from, const messages::any_message& x);

  /// A server that begins knows of no offer but those that are stored.
  /// @param zero of its clock
  void server_began(instant zero);

  /// The run is over: what comes now need not be answered.
  void listen_no_more(instant silence_max);

  /// Conservation: each offer that arrived is merged or refused, and its client
  /// was told. (What a crash forgot is offered again.)
  void check_end() const;

private:
  void check_invitation(const messages::ticket& x);
  void check_ended(const messages::visit_ended& x);
  void check_served(const messages::line_served& x) const;
  void check_held(const messages::offer_held& x);
  void check_answer(client_id to, const messages::offer_answered& x);
  void forget(visit_id x);

  parts x_;
  bool listens_ = true;
  instant began_{};
  std::set<std::pair<visit_id, line_id>> awaited_; ///< Arrived, not answered.
  std::map<client_id, instant> heard_;             ///< The last of each.
  std::set<std::pair<visit_id, line_id>> held_;    ///< Their clients know.
  /// So it was answered, in this life of the server.
  std::map<std::pair<visit_id, line_id>, std::uint64_t> withdrawn_;
  std::uint64_t lives_ = 0;
  std::map<visit_id, instant> expires_; ///< Of this life of the server.
};

/// Sees how a run ends, and that only what is stored is published.
struct sim_audience final : actors::audience {
  void published(const messages::version_published& x, instant) override;
  void failed(const messages::client_failed&, instant) override {
    // nop
  }
  void counted(const messages::round_counted&, instant) override {
    // nop
  }
  void evaluated(const messages::evaluation_finished& x,
                 const actors::version_heads& scored, instant) override;
  void left_out(version, instant) override;
  void finished(const messages::run_finished& x,
                const std::optional<messages::evaluation_finished>&,
                instant) override;

  /// Told of each evaluation. May be empty.
  std::function<void(const messages::evaluation_finished&)> scored = {};
  const sim_store* store = nullptr;
  std::optional<messages::run_finished> end;
};

/// A vault that knows what no client may do.
struct sim_vault final : actors::vault {
  explicit sim_vault(const answers_given& x) : answers(x) {
    // nop
  }

  bool save(client_id who, const actors::client_file& x,
            std::function<void()> kept) override;

  std::optional<actors::client_file> load(client_id who) const override {
    return inner.load(who);
  }

  std::map<client_id, actors::state_ptr> states() const override {
    return inner.states();
  }

  void check_what_is_let_go(const actors::kept_offer& before,
                            const actors::kept_offer& after);
  void check_what_ended(const actors::client_file& before,
                        const actors::client_file& after);

  /// Keeps what a client waits for, if it does. Null: whoever waits longest.
  bool keep_one(std::optional<client_id> who = {});

  /// What a client that died was to keep is not kept.
  void forget(client_id who);

  void keep(client_id who, const actors::client_file& x);

  struct wish {
    actors::client_file file;
    std::vector<std::function<void()>> kept;
  };

  const answers_given& answers;
  bool slow = false;
  std::map<client_id, wish> waiting;
  actors::memory_vault inner;
  std::set<visit_id> offered;
  std::set<visit_id> dropped; ///< Ended, and there is no offer of them.
  std::uint64_t let_go = 0;   ///< Parts whose values were.
};

} // namespace troupe::test
