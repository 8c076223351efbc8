#pragma once

#include <filesystem>
#include <span>

#include "core/result.hpp"
#include "models/safetensors.hpp"
#include "node/config/experiment.hpp"

namespace troupe::node {

/// Writes a language model that a run trained as a folder that others read, and
/// a run as its `model.path`: config.json, model.safetensors and, where it is a
/// file, the tokenizer's. Returns `invalid_data` where those are not all the
/// model's tensors, and what `put_folder` does. @pre x.model.is_language()
[[nodiscard]] result<void> put_language(const experiment& x,
                                        const models::tensor_file& what,
                                        const std::filesystem::path& to);

/// What a run's clients have in common beside its base.
struct common_factors {
  std::span<const float> adapter;
  std::span<const float> attention = {}; ///< Where that is a block of its own.
};

/// The base of a run with these in its weights, named as the base's. Returns
/// `invalid_argument` where texts are not foretold token by token: the layer
/// that says what a row is has no place in the file; and `invalid_data` where
/// those are not the adapter's values.
/// @pre x.model.is_language(), its method is there
[[nodiscard]] result<models::tensor_file>
merged_language(const experiment& x, const common_factors& common);

} // namespace troupe::node
