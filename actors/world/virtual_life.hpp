#pragma once

// What happens to a client that is simulated and to no other: it is away or
// broken for a while, its work is due at an instant that is known beforehand,
// and some of its visits come to nothing.

#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <variant>

#include "actors/messages/internal.hpp"
#include "core/clock.hpp"
#include "models/trainer.hpp"

namespace troupe::actors {

class virtual_life {
public:
  using work = std::variant<messages::choose_job, messages::train_job>;

  struct options {
    /// How long a visit takes under the virtual clock; known before it is
    /// computed. Empty: as long as it takes.
    std::function<instant(const models::visit_input&)> duration = {};
    /// Whether a visit's work is never offered; empty: all is.
    std::function<bool(const models::visit_input&)> drops_out = {};
    bool absent = false; ///< Until it is told to come.
  };

  enum class fate : std::uint8_t {
    counts,
    drops_out,
    stale, ///< For nobody: it was asked for before a crash.
  };

  explicit virtual_life(options opts);

  /// It crashed, or did not come yet: hears and says nothing.
  bool is_down() const noexcept {
    return down_;
  }

  void crash();

  /// Returns whether it was down.
  bool come() noexcept {
    return std::exchange(down_, false);
  }

  /// When work that is asked for now is due.
  instant begin(const work& x, instant now);

  fate end(const messages::job_finished& x, instant now);

  /// Work under way and when it is due, also of withdrawn visits.
  const std::map<visit_id, std::pair<instant, work>>& under_way() const {
    return jobs_;
  }

  /// What a snapshot keeps.
  static constexpr auto fields(auto& x) {
    return std::tie(x.down_, x.jobs_);
  }

private:
  options options_;
  bool down_;
  std::map<visit_id, std::pair<instant, work>> jobs_;
};

visit_id visit_of(const virtual_life::work& x);

} // namespace troupe::actors
