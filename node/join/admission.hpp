#pragma once

// How a process comes in: with which keys, and what it hears where it does not.

#include <atomic>
#include <optional>
#include <string>

#include "actors/transport/zmq/socket_endpoint.hpp"
#include "core/keys.hpp"
#include "node/join/join.hpp"

namespace troupe::node {

class admission {
public:
  explicit admission(const join_context& in) : in_(in) {
    // nop
  }

  /// Fills in the keys: a pair of its own, which is kept with the clients, and
  /// which an invitation makes known before. Says how it ends, if it does.
  std::optional<join_summary> prepare(transport::socket_endpoint::options& to);

  /// It is not let in, or no longer: `no_answer` says why.
  const std::atomic<bool>& refused() const noexcept {
    return refused_;
  }

  /// What it means that there is none.
  join_summary no_answer() const;

private:
  std::optional<join_summary> enrol_own(const public_key& own);
  join_summary not_let_in() const;

  const join_context& in_;
  std::string own_;
  std::string line_problem_; ///< Why the invitation did not serve.
  std::atomic<bool> refused_{false};
  std::atomic<transport::turned_away> why_{}; ///< Then.
};

} // namespace troupe::node
