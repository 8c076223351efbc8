#pragma once

// How one client mixes the instances of a family: what it begins a visit with,
// how that learns, and what it keeps.

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/random.hpp"
#include "models/methods/router.hpp"
#include "models/visit/visit.hpp"

namespace troupe::models {

/// Where a client's shares come from.
enum class mixing : std::uint8_t {
  learned, ///< Logits of its own, that never travel.
  tied,    ///< Client k has instance (k - 1) mod C, for ever.
};

struct client_router {
  std::vector<double> logits; ///< Empty: the shares are fixed.
  std::vector<double> shares;

  /// As they are in one step: with uniform noise below `most` on each logit.
  std::vector<double> noisy_shares(random_stream& noise, double most) const;

  /// Learns from the slope along each share, at the shares of that step.
  void descend(std::span<const double> at, std::span<const double> slopes,
               double rate);
};

/// What client 0, who is nobody, has is even. @pre count > 0
result<client_router> router_of(const visit& v, mixing how, std::size_t count);

/// Tells the shares, and keeps the logits if there are any.
result<void> keep_router(const client_router& x, visit& v);

/// Keeps them alone.
result<void> keep_logits(const client_router& x, visit& v);

/// Of all clients that have a state; those that have not trained yet have even
/// shares.
shares_by_client kept_shares(const evaluation_input& x, std::size_t count);

/// Adds `router_figures` of these clients.
void summarise_routers(const shares_by_client& shares, const local_problem& on,
                       evaluated& to);

/// The same for methods whose clients mix whole models.
void summarise_ensembles(const evaluation_input& x, const local_problem& on,
                         evaluated& to);

/// A step of each.
std::uint64_t as_many_as_models(const training_options& how);

/// An option that is a rate: as the learning rate where it is 0, and scheduled
/// as that is.
double rate_or(const visit& v, std::string_view name);

} // namespace troupe::models
