#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "actors/client/client_file.hpp"
#include "actors/client/hub.hpp"
#include "core/result.hpp"
#include "node/config/experiment.hpp"
#include "node/run/listening.hpp"
#include "node/task/workload.hpp"
#include "node/watch/board.hpp"
#include "node/watch/summary.hpp"

namespace troupe::node {

/// What surrounds a run.
struct run_context {
  model_maker make_model; ///< Of every kind that needs torch.
  /// What the bits of training depend on; empty: it is not known.
  std::function<std::string()> fingerprint = {};
  std::ostream* progress = nullptr; ///< Null: nothing is shown.
  bool terminal = false;            ///< `progress` is one.
  const std::atomic<bool>* stop =
    nullptr; ///< True: the run is to end in order.
  std::vector<std::string> notes = {}; ///< Said when it is ready to begin.
  /// The folder of a run that is to go on; empty: it begins, in a new one.
  std::filesystem::path resume = {};
  std::shared_ptr<status_board> board = {}; ///< Where it says how it stands.
  std::string http = {}; ///< Where others read that; empty: nowhere.
  /// Under the wall clock: what server and clients meet at; null: this process.
  std::shared_ptr<actors::server_hub> server_side = {};
  std::shared_ptr<actors::client_hub> client_side = {};
  /// Without an address clients live in this process.
  listening_options listen = {};
  /// Told where that is, port 0 being any.
  std::function<void(const std::string& address)> listening = {};
  /// Where clients keep what is theirs; null: in memory, gone with the run.
  std::shared_ptr<actors::vault> files = {};
  /// What it learns, as the configuration says; null: it is prepared from that.
  const workload* work = nullptr;
};

/// A whole federation in this process: the function behind `troupe run`. Its
/// folder holds what it was. A run that began and failed is a summary that says
/// so; an error is one that could not begin, or whose folder could not be
/// written.
[[nodiscard]] result<run_summary> run(const experiment& x,
                                      const run_context& in);

} // namespace troupe::node
