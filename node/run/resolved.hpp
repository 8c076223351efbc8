#pragma once

#include "node/config/experiment.hpp"

namespace troupe::node {

/// What a folder's config.toml says, so that it works from any folder: paths
/// are absolute.
experiment resolved(experiment x);

} // namespace troupe::node
