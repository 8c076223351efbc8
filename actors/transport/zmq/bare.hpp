#pragma once

// What ZeroMQ itself takes for as many bytes, with nothing of ours over it:
// what figures are held against.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace troupe::transport::bare {

using listener = std::function<void(const std::string& address)>;

/// Listens at any port of this machine, and sends back each message as it is
/// until it is stopped.
void echo(const listener& listening, const std::atomic<bool>& stop);

struct questions {
  std::size_t head_bytes = 0;
  std::size_t body_bytes = 0;
  int in_flight = 1;
  double seconds = 1;
};

struct answers {
  std::uint64_t count = 0;
  std::vector<double> seconds; ///< From question to answer, as they came.
};

/// Has an echo answer.
answers ask(const std::string& address, const questions& x);

/// Listens at any port of this machine, and takes messages until `bytes` came.
void take(const listener& listening, std::uint64_t bytes);

/// Sends so many bytes in parts of `chunk_bytes`, none of them copied here, and
/// waits until they were taken.
void give(const std::string& address, std::uint64_t bytes,
          std::size_t head_bytes, std::size_t chunk_bytes);

} // namespace troupe::transport::bare
