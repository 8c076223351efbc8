#pragma once

#include <filesystem>
#include <memory>

#include "node/run/federation.hpp"

namespace troupe::node {

/// Keeps offers in a run's folder, if the configuration says so; empty if not.
/// A run that cannot keep one fails.
offer_keeper keeper_in(const experiment& x, const std::filesystem::path& folder,
                       std::shared_ptr<chronicle> watching);

} // namespace troupe::node
