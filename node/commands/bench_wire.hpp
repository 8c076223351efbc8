#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "node/commands/figure.hpp"

namespace troupe::node {

/// Of an offer of 40 MB.
inline constexpr std::size_t offer_values = 10'000'000;

struct uploading {
  int clients = 4;
  int offers_a_version = 16;
  int versions = 1;
};

/// The configuration of a run in which clients offer as fast as they can.
std::string upload_text(const uploading& x);

/// What large offers cost from clients in other processes to a version.
std::vector<figure> wire_figures();

} // namespace troupe::node
