#pragma once

// The files that a model is, known by what is in them: two with the same blocks
// may compute different things.

#include <string>

#include "core/result.hpp"
#include "models/layout.hpp"
#include "node/config/experiment.hpp"

namespace troupe::node {

/// Of a scripted model the bytes of its file; of a language model its tokenizer
/// and, where it has a file, the base in that; zeros for other kinds. Returns
/// `invalid_config` or `invalid_data` where it cannot be read.
[[nodiscard]] result<models::digest> digest_of_model(const experiment& x);

/// For people: where that is.
std::string files_of_model(const experiment& x);

} // namespace troupe::node
