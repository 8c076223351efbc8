#pragma once

// The result of a run, for people and for programs.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "node/watch/chronicle.hpp"

namespace troupe::node {

struct run_summary {
  std::string mode;
  std::string method;
  std::string clock;
  std::uint64_t versions = 0; ///< Commits over all lines after version 0.
  std::map<std::string, std::uint64_t> heads; ///< By block.
  /// Of each family that travels, all instances together.
  std::map<std::string, std::uint64_t> values;
  std::optional<std::uint64_t> rounds; ///< That count; of sync and semisync.
  std::uint64_t visits = 0;
  std::optional<double> accuracy; ///< Of the global model on the test data.
  /// That model is a newcomer's: all others have a part of their own.
  bool personal = false;
  /// It is what one would choose who had all test rows, as no client has.
  bool chosen = false;
  std::optional<double> loss;
  std::optional<spread> per_client; ///< Accuracies, or perplexities.
  std::optional<spread> held_out;   ///< Who was never invited: `zero_shot`.
  /// Where clients score themselves: how many were asked, and of how many the
  /// scores are.
  std::optional<std::uint64_t> clients_asked = {};
  std::uint64_t clients_scored = 0;
  std::map<client_id, failed_visits> failures;
  std::uint64_t evaluations_left_out = 0;
  std::string digest; ///< Of the final values of all travelling blocks.
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  double wall_seconds = 0;
  std::optional<double> virtual_seconds;
  double cpu_seconds = 0;
  std::uint64_t peak_memory_bytes = 0;
  std::string folder;
  std::map<std::string, double> method_results;
  /// By the common model, each time counted; none without one.
  std::optional<std::uint64_t> rows_embedded = {};
  /// What values cost one who was never invited; none where there is none, or
  /// the method cannot serve such.
  std::optional<std::uint64_t> zero_shot_bytes_down = {};
  std::optional<std::uint64_t> zero_shot_bytes_up = {};
  /// Where scores are of tokens: on the test data, and the mean over clients.
  std::optional<double> perplexity = {};
  std::optional<double> clients_perplexity = {};
  /// The mean over clients of each one's mean loss, whatever it is of.
  std::optional<double> clients_loss = {};

  // Only for people and summary.json.
  /// Digests of the files of values that it left, by their names.
  std::map<std::string, std::string> files = {};
  std::optional<best_version> best;
  std::string reason; ///< Why it ended.
  bool failed = false;
  bool interrupted = false;
  bool goes_on = false; ///< It can be resumed.
  bool is_evaluated = true; ///< Somebody asked for scores.
  /// What is odd about its end, for people to know.
  std::vector<std::string> notes = {};
  /// Who asked for which expert; none where visits do not say so.
  std::optional<json> routing = {};
  /// Of factors inside a language model; none where there are none.
  std::optional<json> language_costs = {};
  /// Of a run over texts that it reads itself.
  std::optional<json> texts_left_out = {};
  std::vector<std::string> users = {}; ///< Where each is a client: their names.
  /// Names of classes, in the order of a head's rows; none where none is known.
  std::vector<std::string> labels = {};
};

/// What the last evaluation found.
void put_scores(run_summary& to, const chronicle& watching, bool has_labels);

/// The object that `troupe run --format json` ends with.
json to_json(const run_summary& x);

/// The same with what else is known, for summary.json.
json to_long_json(const run_summary& x);

/// Several lines, for people.
std::string to_text(const run_summary& x);

} // namespace troupe::node
