#pragma once

// A process with clients of a run that is served elsewhere.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/keys.hpp"
#include "core/result.hpp"
#include "node/task/materials.hpp"
#include "node/task/workload.hpp"
#include "node/watch/board.hpp"

namespace troupe::node {

struct join_context {
  std::string address; ///< As tcp://HOST:PORT.
  /// Of the server; nothing: neither side has keys.
  std::optional<public_key> server = {};
  std::optional<key_pair> invitation = {}; ///< Enrols our own key first.
  std::uint32_t clients = 1;               ///< Of the run's own partition.
  /// In place of them one with data of its own, by this name; empty: none.
  std::string name = {};
  /// Where this machine has the run's data or, of a client with a name, its
  /// own.
  std::string data = {};
  /// Where it has the run's scripted or language model or, of other kinds, the
  /// weights that nobody trains.
  std::string model = {};
  std::string tokenizer = {}; ///< Where it has the run's, if that is a file.
  /// A run's folder or a file of weights, of the common model of the run, or
  /// the module where that is scripted; empty: the server's, or the store's.
  std::string common = {};
  /// How many experts each of these clients has, and the MiB for them, as
  /// [training] says it; one of them at most, and 0: as the run says.
  std::uint32_t experts = 0;
  double expert_memory = 0;
  std::string store = {}; ///< Folder where clients keep what is theirs; empty:
                          ///< in memory, gone with the process.
  std::string audit = {}; ///< File for what leaves; empty: none.
  double wait = 60;       ///< Seconds for the first answer of all; 0: no end.
  std::uint32_t workers = 0;           ///< 0: one per core.
  std::size_t chunk_bytes = 256 << 10; ///< Of a large message, in one piece.
  model_maker make_model;              ///< Of every kind that needs torch.
  /// What the run learns, from its configuration; empty: `prepare`.
  std::function<result<workload>(const experiment&)> make_work = {};
  const std::atomic<bool>* stop = nullptr;   ///< True: it is to end in order.
  std::shared_ptr<process_board> board = {}; ///< May be null.
  std::string http = {}; ///< Where the board is read; empty: nowhere.
  /// For people. May be empty.
  std::function<void(const std::string& line)> say = {};
};

/// How it ended.
struct join_summary {
  enum class end : std::uint8_t {
    finished,    ///< The run is over.
    interrupted, ///< Somebody wanted it.
    unreachable, ///< No answer.
    refused,     ///< By the server.
    misfit,      ///< Protocol, layout, model: they cannot speak.
    data,        ///< Not the run's data.
    failed,      ///< By this machine: its disk, its store.
  };

  end how = end::finished;
  std::string why;
  std::string hint;
  std::uint64_t clients = 0;
  std::uint64_t visits = 0;    ///< That were trained here.
  std::uint64_t failed = 0;    ///< Visits that came to nothing here.
  std::string why_failed = {}; ///< The first of them.
  /// What the method says of its clients, when they were asked for scores last.
  /// Nobody else hears it.
  std::map<std::string, double> method_results = {};
};

/// The function behind `troupe join`. On return no thread of it is left.
[[nodiscard]] join_summary join(const join_context& in);

} // namespace troupe::node
