#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/random.hpp"

namespace troupe::test {

/// Probabilities, all of them zero in a kind world.
struct faults {
  double loss = 0;        ///< Of a frame.
  double duplication = 0; ///< Of a frame.
  double corruption = 0;  ///< Of a byte in a frame.
  double truncation = 0;  ///< Of a frame.
  double forgery = 0;     ///< Of an offer that no honest client would make.
  double partition = 0;   ///< Of a client's link in one direction, per frame.
  double connection_cut = 0; ///< Of a process's, per piece.
  double process_crash = 0;  ///< Of all its clients, at each step.
  double job_failure = 0;    ///< Of a client's work.
  double job_slowness = 0;   ///< Of the same, many times slower.
  double failure = 0;        ///< Of a merge or a commit, with an error.
  double silence = 0;        ///< Of a merge or a commit, without an answer.
  double node_crash = 0;     ///< Of the whole node, at each step.
  double actor_crash = 0;    ///< Of one of its actors, at each step.
  double client_crash = 0;   ///< Of a client, at each step.
  double client_leave = 0;   ///< Of a client's owner, at each step; and its
                             ///< return.
  double key_change = 0;     ///< Of tickets, at each step.
  std::uint64_t delay_ms_max = 20; ///< Of a frame; reorders.
};

/// How often each thing happened: a fault that never did has tested nothing.
using tally = std::map<std::string, std::uint64_t>;

/// What the parts of one simulated world share.
struct chances {
  faults active;
  tally& happened;
  random_stream network;
  random_stream forgers;
  random_stream devices;
  random_stream disk;

  chances(std::uint64_t seed, tally& counts)
    : happened(counts),
      network(derive_seed(seed, "network")),
      forgers(derive_seed(seed, "forgers")),
      devices(derive_seed(seed, "devices")),
      disk(derive_seed(seed, "disk")) {
    // nop
  }

  bool happens(random_stream& stream, double probability, const char* what) {
    // Draws also when the probability is zero, so that healing does not
    // reshuffle.
    const bool yes = stream.chance(probability);
    if (yes)
      ++happened[what];
    return yes;
  }
};

} // namespace troupe::test
