#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "actors/client/client_file.hpp"
#include "actors/client/line_cache.hpp"
#include "actors/messages/internal.hpp"
#include "core/recipe.hpp"
#include "models/layout.hpp"

namespace troupe::actors {

/// A client's side of the conversation. Knows nothing of actors; each call
/// returns what to say, to compute and to keep.
///
///   invited ─► fetch leg 0 ─► choose ─► fetch leg 1 ─► … ─► train ─► offer
///                                                                     │
///                     outbox: resent until every line has answered ◄──┘
///
/// Whatever arrives twice changes nothing: a visit is begun once, trained once
/// and offered until it is answered. Of a line that has it durably the values
/// are let go of, and it is asked what became of them.
class dialogue {
public:
  struct options {
    client_id me;
    std::uint64_t examples = 0;
    const recipe* method = nullptr;
    std::shared_ptr<const models::layout> blocks;
    instant resend_after = std::chrono::seconds{10};
    /// An offer that a line holds; a link loses no answer without a new hello.
    instant held_again_after = std::chrono::hours{24 * 365 * 100};
    /// 0: no beats. Each comes a fifth earlier or later than this, at most, so
    /// that those of many do not come at once.
    instant beat_every{};
    std::uint64_t beat_seed = 0; ///< Names the client's own stream of these.
    /// What it and its neighbours were served is not fetched again. Null:
    /// within one process whole blocks are shared anyway.
    std::shared_ptr<line_cache> cache = {};
    messages::run_id run{}; ///< Zeros: the one there is.
  };

  /// Work for the kernel worker.
  struct job {
    std::variant<messages::choose_job, messages::train_job> what;

    static constexpr auto fields(auto& x) {
      return std::tie(x.what);
    }
  };

  /// The file is to be written before anything after this in the list.
  struct keep {};

  using action = std::variant<messages::any_message, job, keep>;
  using actions = std::vector<action>;

  dialogue(options opts, client_file found);

  /// Says hello, also to a server that has forgotten.
  [[nodiscard]] actions start(instant now);
  [[nodiscard]] actions heard(const messages::any_message& x, instant now);
  [[nodiscard]] actions finished(const messages::job_finished& x, instant now);

  /// Says that it leaves. What it works on is dropped; what it offered stays,
  /// and is said again if it comes back.
  [[nodiscard]] actions go();

  /// Takes no more invitations, and leaves when nothing is under way.
  [[nodiscard]] actions drain();

  /// Comes back after it left.
  [[nodiscard]] actions come(instant now);

  /// The visit, if it is open, ends without an offer, as if it had not been.
  [[nodiscard]] actions give_up(visit_id x);

  /// Repeats what was not answered.
  [[nodiscard]] actions due(instant now);
  std::optional<instant> next_due() const;

  const client_file& file() const noexcept {
    return file_;
  }

  bool is_open(visit_id x) const noexcept {
    return file_.open && file_.open->pass.visit == x;
  }

  /// How many ranks of a line's blocks it fetches; 0 is all.
  std::uint32_t rank_of(line_id line) const;

  /// What the server said farewell with, for good.
  const std::optional<messages::farewell>& last_words() const noexcept {
    return farewell_;
  }

  /// What a snapshot keeps.
  static constexpr auto fields(auto& x) {
    return std::tie(x.file_, x.where_, x.blank_, x.connected_, x.nonce_,
                    x.session_, x.spoke_, x.beat_, x.held_, x.leg_, x.working_,
                    x.missing_, x.fetched_, x.chosen_, x.disclosed_);
  }

private:
  enum class place : std::uint8_t { here, draining, away };

  actions say_hello(instant now);
  void on(const messages::welcome& x, actions& out, instant now);
  void on(const messages::farewell& x, actions& out, instant now);
  void on(const messages::invited& x, actions& out, instant now);
  void on(const messages::line_served& x, actions& out, instant now);
  void on(const messages::offer_answered& x, actions& out, instant now);
  void on(const messages::offer_held& x, actions& out, instant now);
  void on(const messages::visit_ended& x, actions& out, instant now);
  void on(const auto&, actions&, instant) {
    // Heads and hints: what is newest is learned with the next fetch.
  }

  void begin(const messages::ticket& pass, actions& out, instant now);
  void resume(actions& out, instant now);
  void fetch_leg(actions& out, instant now);
  void leg_is_here(actions& out, instant now);
  void after_choice(actions& out, instant now);
  std::vector<block_id> fixed_choice() const;
  void offer(const models::trained& x, actions& out, instant now);
  /// Ends the visit that was begun last.
  void end_without_offer(const messages::ticket& pass,
                         messages::decline_reason why, actions& out);
  void decline(const messages::ticket& pass, messages::decline_reason why,
               actions& out);
  void close_offer(std::size_t at, actions& out, instant now);
  void leave_if_drained(actions& out);
  void drop_visit();
  void say_offer(kept_offer& x, actions& out, instant now) const;
  bool has_values(const kept_offer& x, line_id line) const;
  void let_go(kept_offer& x, line_id line) const;
  instant again_at(const kept_offer& x) const;
  instant beat_due() const;
  std::vector<messages::ticket> open_tickets() const;
  std::vector<line_id> lines_of_leg() const;
  models::visit_input input() const;

  options options_;
  client_file file_;
  place where_ = place::here;
  bool blank_ = false; ///< It began without a file, and no one knows it yet.
  bool connected_ = false;
  std::optional<messages::farewell> farewell_; ///< Nobody is kept who has one.
  std::uint64_t nonce_ = 0;
  session_id session_{};
  instant spoke_{}; ///< When a hello or fetch was last sent.
  instant beat_{};
  std::optional<messages::ticket> held_; ///< Waits for the verdict on the last.

  // Of the open visit.
  std::uint32_t leg_ = 0;
  bool working_ = false; ///< A job is under way.
  std::set<line_id> missing_;
  std::vector<models::fetched_block> fetched_;
  std::vector<block_id> chosen_;
  models::disclosed disclosed_;
  std::map<line_id, line_cache::entry> here_; ///< As it said when it asked.
  std::uint32_t served_by_ = 0; ///< In this session: see line_cache.
};

} // namespace troupe::actors
