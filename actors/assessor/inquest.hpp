#pragma once

// What clients say that versions are worth to them: who was asked, what of an
// answer counts, and when there is no more to wait for.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "actors/messages/assessment.hpp"
#include "actors/messages/internal.hpp"
#include "core/clock.hpp"
#include "models/trainer.hpp"

namespace troupe::actors {

class inquest {
public:
  /// @param until after this nobody is waited for
  inquest(std::uint64_t question, instant until)
    : question_(question),
      until_(until) {
    // nop
  }

  std::uint64_t question() const noexcept {
    return question_;
  }

  /// These may answer, for these clients.
  void asked(const messages::scores_under_way& x);

  /// What the versions are worth here: also to clients, where they are held
  /// out and have their rows here.
  void scored(models::evaluated x);

  /// Takes of an answer what may be so: of clients that this process was asked
  /// for, each once, with no more hits than rows and no loss that cannot be.
  /// Returns of how many. Who is quick answers before it is known here who was
  /// asked, since the question and the answer come by other ways: that is
  /// looked at then.
  std::size_t heard(const messages::scores_heard& x);

  /// Of these processes something was heard lately. Nobody waits for the
  /// others, though an answer that comes in time still counts.
  void spoke(std::set<peer_id> lately) {
    speaking_ = std::move(lately);
  }

  /// All that can come is here.
  bool is_over(instant now) const {
    return scored_ && asked_ && (now >= until_ || !waits_for_somebody());
  }

  /// The last call. @pre it is over
  messages::evaluation_finished take(line_id line, version head);

private:
  /// What a process said before it was known here who was asked.
  struct early {
    std::vector<messages::scores_heard> what = {};
    std::size_t scores = 0; ///< In those.
  };

  bool waits_for_somebody() const;
  void keep(const messages::scores_heard& x);

  std::uint64_t question_;
  instant until_;
  bool asked_ = false;
  bool scored_ = false;
  std::uint64_t count_ = 0; ///< Of clients that were asked.
  std::map<peer_id, early> early_;
  std::size_t early_scores_ = 0; ///< In all of those.
  std::map<client_id, peer_id> missing_;
  std::optional<std::set<peer_id>> speaking_; ///< Nothing: nobody has looked.
  models::evaluated scores_;
  std::map<client_id, models::scores> told_;
  std::map<client_id, models::scores> aside_;
};

/// Whether a client may say so of its rows.
bool is_credible(const messages::told_score& x) noexcept;

} // namespace troupe::actors
