#pragma once

// What ZeroMQ itself takes for as many bytes, with nothing of ours over it:
// what figures are held against.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/transport/piece.hpp"
#include "core/keys.hpp"

namespace troupe::transport::bare {

using listener = std::function<void(const std::string& address)>;

/// With which both sides of a conversation encrypt. Whoever has the server's
/// key comes in.
struct pairs {
  key_pair server;
  key_pair client;
};

using security = std::optional<pairs>; ///< Nothing: in the plain.

/// Listens at any port of this machine, and sends back each message as it is
/// until it is stopped.
void echo(const listener& listening, const std::atomic<bool>& stop,
          const security& keys = {});

struct questions {
  std::size_t head_bytes = 0;
  std::size_t body_bytes = 0;
  int in_flight = 1;
  double seconds = 1;
  security keys = {};
};

struct answers {
  std::uint64_t count = 0;
  std::vector<double> seconds; ///< From question to answer, as they came.
};

/// Has an echo answer.
answers ask(const std::string& address, const questions& x);

/// Listens at any port of this machine, and takes messages until `bytes` came.
void take(const listener& listening, std::uint64_t bytes,
          const security& keys = {});

/// Sends so many bytes in parts of `chunk_bytes`, none of them copied here, and
/// waits until they were taken.
void give(const std::string& address, std::uint64_t bytes,
          std::size_t head_bytes, std::size_t chunk_bytes,
          const security& keys = {});

/// How a piece crosses.
enum class shape : std::uint8_t { two_parts, one_part };

/// Many connections of one process, each with a link of its own and by the key
/// in its place, of a server with keys.
class crowd {
public:
  crowd(const std::string& address, const public_key& server,
        const std::vector<key_pair>& keys);
  ~crowd();

  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;

  /// Sends a piece by the next connection: one after the other has its turn.
  void say(const piece& x, shape how = shape::two_parts);

  /// Waits until so many pieces came, since the last call; no longer than that.
  /// @returns how many came
  std::size_t hear(std::size_t count, double seconds_max);

private:
  struct sockets;

  std::unique_ptr<sockets> at_;
};

} // namespace troupe::transport::bare
