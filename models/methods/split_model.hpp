#pragma once

// A model as a body and a head: its last layer.

#include "models/objective.hpp"

namespace troupe::models {

/// Where the tensors of the last layer begin: those at the end that have all of
/// their name but the last word in common. The first one where there is one
/// layer only. @pre !all.empty()
tensor_list::const_iterator head_of(const tensor_list& all);

} // namespace troupe::models
