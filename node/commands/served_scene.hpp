#pragma once

// A served run that learns nothing, for figures: its server and its clients,
// each the work of a process of its own.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "actors/transport/zmq/bare.hpp"
#include "node/commands/processes.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

/// What those processes tell each other, and who began them.
struct scene_board {
  told_address address; ///< Without the server's key.
  std::atomic<bool> stop{false};
  std::atomic<double> cpu_before{0}; ///< Of the server, until it listened.
  std::atomic<std::uint64_t> bytes_before{0}; ///< Of its memory, likewise.
  std::atomic<std::uint64_t> bytes_in{0};     ///< At the server's socket.
  std::atomic<std::uint64_t> bytes_out{0};
};

struct scene_options {
  std::size_t values = 0; ///< Of the block that travels.
  bool offers = true;     ///< False: by a method that merges nothing.
  bool on_disk = false;   ///< Server and clients keep what they must there.
  bool keys = false;      ///< Who comes has one; else nothing is encrypted.
  bool clients_forget = false; ///< But for these.
  bool may_say_much = false;   ///< One process may take all of the server.
  /// With keys: so many connections have one each, and clients in turn.
  std::size_t crowd = 0;
  /// With keys: so many clients, the last ones, come with another key.
  std::size_t guests = 0;
};

struct served_scene {
  experiment x;
  workload work;
  std::filesystem::path folder = {};
  bool on_disk = false;
  bool clients_forget = false;
  bool may_say_much = false;
  transport::bare::security keys = {};
  std::vector<key_pair> crowd = {};
  std::size_t guests = 0;
  transport::bare::security guest_keys = {}; ///< The server's and theirs.
  shared_page<scene_board> board = {};
};

/// A scene of that configuration, in a new folder that is removed with it.
result<std::shared_ptr<served_scene>> make_scene(const std::string& text,
                                                 const scene_options& how);

/// The same of an experiment whose work is still to be made.
result<std::shared_ptr<served_scene>> make_scene(experiment x,
                                                 const scene_options& how);

/// New ones, or nothing.
transport::bare::security drawn_keys(bool wanted);

/// Both of what follows, until the run is over: CPU of the two processes, from
/// when the server listens.
result<double> run_scene(const served_scene& scene, std::uint32_t clients);

/// Serves until the run is over, or `stop`.
result<void> serve(const served_scene& scene);

/// Waits until the server answers: what is said before is heard by nobody.
result<void> wait_for_answer(const served_scene& scene);

/// Has clients take part until the run is over.
result<void> take_part(const served_scene& scene, std::uint32_t clients);

} // namespace troupe::node
