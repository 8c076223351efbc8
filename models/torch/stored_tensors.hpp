#pragma once

// Torch headers: included by the units of models/torch alone.

#include <torch/script.h>

#include <optional>
#include <string>

namespace troupe::models {

/// What is wrong with some tensor of a module that was loaded: one that is
/// larger than what was stored of it would be read beyond its end. Nothing
/// where all of them are there.
std::optional<std::string>
tensor_beyond_its_storage(const torch::jit::Module& x);

} // namespace troupe::models
