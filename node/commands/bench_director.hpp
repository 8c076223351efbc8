#pragma once

#include <cstdint>
#include <vector>

namespace troupe::node {

/// What the director's decisions about one visit cost.
struct director_cost {
  std::uint64_t clients = 0;
  double busy = 0; ///< Share of the clients that have an open visit.
  double p50 = 0;  ///< Seconds.
  double p99 = 0;
  double bytes_a_client = 0;
  /// Seconds to read a few lines at random among as many bytes: what a visit
  /// costs where nothing is decided.
  double touch_p50 = 0;
};

/// For 10^3, 10^5 and 10^6 clients, few of them busy and nine of ten.
std::vector<director_cost> director_costs();

} // namespace troupe::node
