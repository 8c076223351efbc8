#pragma once

#include <cstddef>

#include "kernels/backend.hpp"
#include "policies/admission.hpp"
#include "policies/staleness.hpp"

namespace troupe::actors {

/// How lines merge: what all of them have in common.
struct line_rules {
  policies::admission_limits admission{};
  policies::staleness_discount discount{};
  kernels::server_step step{};
  std::size_t buffer_size = 0; ///< Must be said: FedBuff's K; 1 is FedAsync.
  /// Of a batch, so many offers are one client's at most; what is more waits.
  std::size_t client_most = ~std::size_t{0};
  bool by_round = false;
  /// Clients hear that an offer waits, and do not say it again: over sockets.
  bool says_held = false;
  /// An offer is on disk before its client hears so.
  bool durable_offers = false;
  /// FedAsync as published mixes models: the term is delta + base - head.
  bool target_is_model = false;
};

} // namespace troupe::actors
