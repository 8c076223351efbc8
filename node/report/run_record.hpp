#pragma once

// What a run's folder says about the run: all that a report is made from.

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ids.hpp"
#include "core/json.hpp"
#include "core/result.hpp"
#include "node/config/experiment.hpp"
#include "node/report/curve.hpp"
#include "node/report/tally.hpp"

namespace troupe::node {

struct run_record {
  /// A version line, as metrics.jsonl names it.
  struct line {
    double head = 0;
    double merged = 0; ///< Offers.
    std::string first_digest;
    curve versions; ///< Over time.
  };

  std::filesystem::path folder;
  std::string config; ///< config.toml as it stands.
  /// None: config.toml cannot be read. It has the users that were found, too.
  std::optional<experiment> x;
  /// summary.json, an object; null: there is none.
  std::shared_ptr<const json> ended;

  std::map<std::string, line> lines;
  curve training_loss;
  curve accuracy;
  curve loss;
  curve validation_accuracy;
  curve validation_loss;
  curve clients_mean; ///< Accuracies of what clients would use themselves.
  curve clients_worst;
  curve majority; ///< Who always says a client's commonest label, their mean.
  curve perplexity;
  curve clients_perplexity;       ///< The mean of theirs.
  std::vector<double> accuracies; ///< Of clients in the end, worst first.
  double last_at = 0;             ///< Of the last record.
  std::uint64_t evaluations = 0;  ///< One of each version that was looked at.
  bool by_rounds = false;         ///< Those are, where nothing is merged.
  event_tally events;
  std::size_t unreadable = 0; ///< Lines of either file.

  /// Of any evaluation; else the workload has no labels.
  bool has_accuracies() const noexcept {
    return !accuracy.empty() || !clients_mean.empty();
  }

  bool has_events() const noexcept {
    return events.events() > 0;
  }
};

/// Whose figure "clients_perplexity.2" is; none where it is of no single one.
std::optional<client_id> client_of(std::string_view name);

/// "client 1", with the user that it is where the configuration names its
/// users, or the run's end the users that it found: "client 1, french".
std::string client_name(client_id who, const std::optional<experiment>& x);

/// Reads a folder, also of a run that goes on, or was killed. Returns
/// `invalid_data` if there is no config.toml in it.
[[nodiscard]] result<run_record> read_run(const std::filesystem::path& folder);

} // namespace troupe::node
