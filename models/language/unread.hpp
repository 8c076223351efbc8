#pragma once

// Tensors of a file that nobody reads: of a layer they would change what the
// model says.

#include <set>
#include <string>

#include "core/result.hpp"
#include "models/language/spec.hpp"
#include "models/language/weight_files.hpp"

namespace troupe::models {

/// Refuses a file with tensors of a layer that are not among those that were
/// read, by the names of some of them. What a layer does not compute with
/// (masks, places) may stand there, and so may all that is of no layer: poolers
/// and heads of other tasks. @param read by the file's names
[[nodiscard]] result<void> check_unread(const weight_files& in,
                                        const language_spec& x,
                                        const std::set<std::string>& read);

} // namespace troupe::models
