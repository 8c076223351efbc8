#pragma once

// The lines of metrics.jsonl; docs/run_folder.md lists their keys.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "actors/messages/internal.hpp"
#include "core/clock.hpp"
#include "core/json.hpp"
#include "models/layout.hpp"
#include "node/watch/spread.hpp"

namespace troupe::node {

/// A version, with the mean training loss of the visits in it.
std::string record_of(const messages::version_published& x,
                      const models::layout& blocks, std::optional<double> loss,
                      instant at);

/// Spreads of scores where there are some: over the clients that are invited,
/// and over those that never are.
struct spreads {
  const std::optional<spread>& clients;
  const std::optional<spread>& zero_shot;
  std::size_t told = 0; ///< Clients that are invited and have a score.
  /// Theirs, for the run's last evaluation.
  std::vector<double> accuracies = {};
  /// Where scores are of tokens.
  std::optional<double> perplexity = {};
  std::optional<double> clients_perplexity = {};
};

/// An evaluation, with the spread over clients where they were scored, and with
/// accuracies that are said, worst first, all of them or a thousand that stand
/// evenly among them.
std::string record_of(const messages::evaluation_finished& x, bool has_labels,
                      const spreads& by_client, instant at);

json to_json(const std::optional<spread>& x);

/// JSON has no infinity and no NaN.
json to_json(std::optional<double> x);

} // namespace troupe::node
