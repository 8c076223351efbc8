#pragma once

// How a process comes in: with which keys, and what it hears where it does not.

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/transport/zmq/socket_endpoint.hpp"
#include "core/keys.hpp"
#include "node/join/audit.hpp"
#include "node/join/inquiry.hpp"
#include "node/join/join.hpp"
#include "node/join/known_servers.hpp"

namespace troupe::node {

class admission {
public:
  /// @param contact of the process: is made where an invitation is answered
  admission(const join_context& in, first_contact& contact)
    : in_(in),
      contact_(contact),
      servers_(in.store) {
    // nop
  }

  /// Fills in the audit and the keys: a pair of its own, which is kept with the
  /// clients, and which an invitation makes known before; `meanwhile` is called
  /// while it waits for that. Says how it ends, if it does.
  std::optional<join_summary> prepare(transport::socket_endpoint::options& to,
                                      const std::function<void()>& meanwhile);

  /// The server has said that it hears it no longer. Of any thread.
  void is_turned_out();

  /// It is not let in, or no longer: `no_answer` says why.
  const std::atomic<bool>& refused() const noexcept {
    return refused_;
  }

  /// Its public key, in digits; empty: it has none.
  const std::string& own() const noexcept {
    return own_;
  }

  /// What it means that there is none.
  join_summary no_answer() const;

private:
  std::optional<join_summary> enrol_own(const public_key& own,
                                        const std::function<void()>& meanwhile);
  std::optional<join_summary>
  open_audit(transport::socket_endpoint::options& to);
  void met(const public_key& who);
  void hear(const transport::announcement& what);
  void say(const std::string& line) const;
  join_summary not_let_in() const;

  const join_context& in_;
  first_contact& contact_;
  std::shared_ptr<audit> audit_; ///< May be null.
  std::function<bool(const transport::piece&)> leaving_;
  known_servers servers_;
  std::mutex mutex_;
  /// What the server may have, of these the first or, if it was met, has.
  std::vector<public_key> keys_;
  std::optional<public_key> met_;
  std::int64_t until_ms_ = 0; ///< As it was kept for the last of them.
  std::string own_;
  std::string line_problem_; ///< Why the invitation did not serve.
  std::atomic<bool> refused_{false};
  std::atomic<transport::turned_away> why_{}; ///< Then.
};

} // namespace troupe::node
