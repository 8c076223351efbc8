#pragma once

// One process's end of its connections to others: a server's, which listens, or
// that of a process with clients, which dials. One thread has the socket; it
// knows neither actors nor messages.

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/transport/crossings.hpp"
#include "actors/transport/endpoint.hpp"
#include "actors/transport/handshakes.hpp"
#include "actors/transport/places.hpp"
#include "actors/transport/refusals.hpp"
#include "actors/transport/server_keys.hpp"
#include "actors/transport/silence.hpp"
#include "core/keys.hpp"
#include "core/limits.hpp"
#include "core/result.hpp"

namespace troupe::transport {

/// Bytes and pieces by what they are.
struct piece_counts {
  std::array<std::atomic<std::uint64_t>, crossing_kinds> pieces{};
  std::array<std::atomic<std::uint64_t>, crossing_kinds> bytes{};

  void add(crossing what, std::uint64_t size) {
    const auto at = static_cast<std::size_t>(what);
    pieces[at].fetch_add(1, std::memory_order_relaxed);
    bytes[at].fetch_add(size, std::memory_order_relaxed);
  }

  void add(const crossings::carried& x) {
    const std::lock_guard guard{mutex_};
    carried_.values.add(x.values);
    carried_.transfers += x.transfers;
  }

  crossings::carried carried() const {
    const std::lock_guard guard{mutex_};
    return carried_;
  }

private:
  mutable std::mutex mutex_; ///< Of what follows.
  crossings::carried carried_;
};

/// What crossed a socket, of all connections.
struct socket_counts {
  piece_counts in;
  piece_counts out;
  std::atomic<std::uint64_t> bytes_in{0};
  std::atomic<std::uint64_t> bytes_out{0};
  std::atomic<std::uint64_t> pieces_malformed{0};
  std::atomic<std::uint64_t> messages_without_room{0};
  std::atomic<std::uint64_t> failures{0};    ///< Of ZeroMQ, or of memory.
  std::atomic<std::uint64_t> connections{0}; ///< Links, in all.
  std::atomic<std::uint64_t> dialled_anew{0};
  std::atomic<std::uint64_t> made{0}; ///< Connections over which both spoke.
  std::atomic<std::uint64_t> lost{0}; ///< Of these.
  /// Of who dials: connections that were not made.
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> unlike{0};
  std::atomic<std::uint64_t> broken{0}; ///< Of a server with keys, too.
  std::atomic<std::uint64_t> credit_waits{0};
};

class socket_endpoint : public endpoint {
public:
  struct options {
    std::string address; ///< As tcp://HOST:PORT.
    /// How large a message of a kind may be.
    std::function<std::uint64_t(std::uint16_t kind)> bytes_max;
    /// Of any message, from a process of which no client has a session.
    std::uint64_t stranger_bytes_max =
      std::numeric_limits<std::uint64_t>::max();
    std::uint64_t unhandled_bytes_max = limits::unhandled_bytes_max;
    /// Of memory that large messages landed in and that nobody holds any more.
    std::uint64_t landing_bytes_max = limits::landing_bytes_max;
    std::size_t frame_bytes_max = 64 << 10; ///< Above: in chunks.
    std::size_t chunk_bytes = 256 << 10;
    /// Drawn at random: names the memory of this end.
    std::uint64_t instance = 0;
    silence::options patience = {}; ///< Of who dialled.
    /// Called on the socket's thread. `peer` is a connection and a channel on a
    /// server, and a channel on who dialled.
    std::function<void(frame_arrived)> arrived;
    /// Of who dialled: there is a connection again, with what was there before
    /// or with another one that has forgotten all.
    std::function<void(bool another)> met_again = {};
    /// Of who dialled: there is a connection now, or none.
    std::function<void(bool there)> connection = {};
    /// Of one key, or without keys of one connection, in a second.
    std::uint64_t frames_per_second = limits::frames_per_second_max;
    /// Told of each piece before ZeroMQ has it. False: it does not leave, and
    /// nothing else does from then on.
    std::function<bool(const piece&)> leaving = {};
    /// Of a server, and of who dials; without: nothing is encrypted.
    std::optional<server_keys> door = {};
    std::optional<dialler_keys> keys = {};
    std::shared_ptr<refusals> refused = std::make_shared<refusals>();
    /// Of who dials: it will not be let in as it is, or for now.
    std::function<void(turned_away)> away = {};
    /// Of who dials with keys: its server will have another one, which is tried
    /// from then on where the present one does not serve.
    std::function<void(const announcement&)> announced = {};
    /// Of who dials with keys: whose a connection is over which it has spoken.
    std::function<void(const public_key&)> met = {};
  };

  /// Where processes dial; with port 0 any that is free.
  static result<std::shared_ptr<socket_endpoint>> listen(options x);

  /// Returns at once; a connection is made when there is somebody, and made
  /// again when it is lost.
  static result<std::shared_ptr<socket_endpoint>> dial(options x);

  /// What was bound or dialled.
  virtual const std::string& address() const = 0;

  virtual const socket_counts& counts() const = 0;

  /// Links that have a connection, and those that lost it so lately.
  virtual std::vector<std::uint64_t> links_here(instant lately) = 0;

  /// Links over which anything came so lately.
  virtual std::vector<std::uint64_t> links_heard(instant lately) = 0;

  /// Who is there, and what is on its way.
  virtual places_seen look() = 0;

  /// What arrived and was not handled yet, and what is about to.
  virtual std::uint64_t unhandled_bytes() const = 0;

  /// Of a server: whose key a peer has. Nothing without keys, or if it is gone.
  virtual std::optional<public_key> key_of(peer_id x) = 0;

  /// Of a server with keys: some are denied. Who is here and is allowed no
  /// longer hears so, and nothing else from then on.
  virtual void look_at_keys() = 0;

  /// Of a server: the process has said that it leaves.
  virtual void has_parted(std::uint64_t link) = 0;

  /// Of a server with keys: it closes its door and opens another one with this
  /// pair, at the same address, as soon as that is free; all who were connected
  /// dial anew, and links go on.
  virtual void listen_with(const key_pair& x) = 0;

  /// Whose key who dials is to have. Nothing without keys, and while there is
  /// no door.
  virtual std::optional<public_key> listens_with() = 0;

  /// Of a server with keys: tells a link that it will have another one.
  virtual void announce(std::uint64_t link, const announcement& x) = 0;

  /// Waits until all is sent to those who are there, but no longer than this.
  virtual void drain(std::chrono::milliseconds most) = 0;

  /// Ends the thread. What is not sent is lost.
  virtual void close() = 0;
};

} // namespace troupe::transport
