#pragma once

// The file of a scripted model: known by what is in it, since two modules with
// the same blocks may compute different things.

#include "core/result.hpp"
#include "models/layout.hpp"
#include "node/config/experiment.hpp"

namespace troupe::node {

/// Of the bytes of the file at its path; zeros for a model of another kind.
/// Returns `invalid_config` where it cannot be read.
[[nodiscard]] result<models::digest> digest_of_model(const model_options& x);

} // namespace troupe::node
