#pragma once

#include "models/trainer.hpp"

namespace troupe::models {

/// What a run may stop by, and its best version is: of rows that nobody trains
/// on.
enum class watched : std::uint8_t {
  accuracy,          ///< Of the global model.
  loss,              ///< Likewise.
  clients_mean,      ///< The accuracy of what each client would use itself,
  clients_worst,     ///< or that of whom it serves least.
  clients_perplexity ///< Where scores are of tokens: the mean over clients.
};

constexpr bool less_is_better(watched x) noexcept {
  return x == watched::loss || x == watched::clients_perplexity;
}

/// Whether it is of each client by itself.
constexpr bool of_clients(watched x) noexcept {
  return x == watched::clients_mean || x == watched::clients_worst
         || x == watched::clients_perplexity;
}

/// Not a number where nothing was scored.
double metric_of(watched what, const evaluated& x);

} // namespace troupe::models
