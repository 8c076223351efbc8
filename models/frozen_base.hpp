#pragma once

// The base of a language model among the blocks of a run: it lies in a file of
// its own on each host, and not among the values that hosts give each other.

#include "models/layout.hpp"

namespace troupe::models {

/// Notes the base as the frozen block 'model', with its tensors and what it
/// holds, whether or not a leg names it: hosts with another one have another
/// layout.
void note_base(layout& to, const tensor_list& tensors, const digest& content);

} // namespace troupe::models
