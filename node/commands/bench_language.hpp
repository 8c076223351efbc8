#pragma once

// What a step over a language model costs, how fast texts become tokens, how
// long a base takes to be read, and what workers have beside it.

#include <filesystem>
#include <vector>

#include "node/commands/figure.hpp"

namespace troupe::node {

/// `lora_step`, `routed_step`, `two_level_step`, `two_level_step_four`,
/// `tokenizing`, `loading` and `language_memory`: of SmolLM2 and the texts that
/// `./dev data language` put into the folder. Where they are not there, steps
/// are of a small model, and the last three are left out.
std::vector<figure> language_figures(const std::filesystem::path& texts);

} // namespace troupe::node
