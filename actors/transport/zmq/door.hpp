#pragma once

// Keys on sockets. libzmq asks for each new connection, over ZAP, whether its
// key may come in; where nobody is there to be asked, it lets all in. Whoever
// comes while its file cannot be read waits for its answer, and nobody for it.

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <zmq.hpp>

#include "actors/transport/piece.hpp"
#include "actors/transport/refusals.hpp"
#include "actors/transport/server_keys.hpp"
#include "core/clock.hpp"
#include "core/keys.hpp"

namespace troupe::transport {

/// Of a server with this key, from the next connection on.
void use_keys(zmq::socket_t& x, const key_pair& own, const public_key& server);

/// A server's door.
class door {
public:
  /// How long what a key may do is taken for what it was.
  static constexpr instant memory = std::chrono::milliseconds{500};

  /// And how long who comes waits while nobody can say what its key may do; a
  /// second later its connection ends as any other that no handshake made.
  static constexpr instant patience = std::chrono::seconds{4};

  /// Answers from now on, so it is made before anybody can come.
  door(zmq::context_t& context, server_keys keys,
       std::shared_ptr<refusals> refused);

  /// The server has another pair, which guards what is bound from now on.
  void use(const key_pair& x) {
    keys_.own = x;
  }

  const public_key& key() const noexcept {
    return keys_.own.open;
  }

  /// Before it is bound.
  void guard(zmq::socket_t& x) const;

  /// To be polled.
  void* handle() {
    return asked_.handle();
  }

  /// Answers what was asked, and what nobody could answer before.
  void answer(instant now);

  /// Somebody waits: it is to be asked again soon.
  bool looks_again() const noexcept {
    return !waiting_.empty();
  }

  /// What a key may do is asked anew.
  void forget() {
    known_.clear();
  }

  /// Whether who came by this name, which we gave, may still speak and be
  /// spoken with.
  bool admits(const std::string& user, instant now);

  /// The same of what it said: what is not heard is counted.
  bool hears(const std::string& user, instant now);

  /// Whether a piece may be heard, before anything is allocated for it: who
  /// came by an invitation says one small thing, on the channel of processes.
  bool hears(const piece& x, const std::string& user, instant now);

private:
  struct known {
    key_standing standing = key_standing::unknown;
    instant at{};
  };

  struct question {
    std::string from; ///< A connection.
    std::string number;
    std::optional<public_key> who; ///< Nothing: that was no key.
    instant at{};
  };

  std::optional<question> next_question(instant now);
  bool answers(const question& x, instant now);
  key_standing standing_of(const std::string& user, instant now);

  server_keys keys_;
  std::shared_ptr<refusals> refused_;
  zmq::socket_t asked_;
  std::map<std::string, known> known_; ///< By user.
  std::vector<question> waiting_;      ///< Of whom nobody can say yet.
  instant look_at_{};                  ///< For these.
};

/// As ZAP named who sent it; empty: nobody did.
std::string user_of(const zmq::message_t& x);

} // namespace troupe::transport
