#pragma once

// Frozen weights of language models. A file is read once in a process, whatever
// the number of those who compute with it.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "core/result.hpp"
#include "models/language/frozen_weights.hpp"
#include "models/language/names.hpp"
#include "models/language/spec.hpp"
#include "models/language/stored_type.hpp"
#include "models/layout.hpp"

namespace troupe::models {

enum class base_storage : std::uint8_t { f32, bf16, as_stored };

/// One copy per process.
class language_base : public frozen_weights {
public:
  virtual const language_spec& spec() const noexcept = 0;

  /// Over the description, names, types, shapes and bytes as the file has them,
  /// and how they are kept.
  const digest& content() const noexcept override = 0;

  /// From a seed: another seed gives other values.
  virtual bool is_made() const noexcept = 0;

  /// Of memory of its own; what lies in a mapped file is not counted.
  virtual std::uint64_t bytes() const noexcept = 0;
};

/// The one of this file and storage in this process, read at its first call;
/// who changes the file meanwhile gets what was read while somebody has it.
/// Vectors are kept as f32 always. Returns `invalid_data`, naming file and
/// tensor: one that is missing, has another shape, or is not finite as it is
/// kept.
[[nodiscard]] result<std::shared_ptr<const language_base>>
open_base(const std::filesystem::path& path, base_storage how);

/// From a seed, as the architecture's authors begin.
[[nodiscard]] std::shared_ptr<const language_base>
make_base(const language_spec& x, std::uint64_t seed);

/// Of values that are there. @pre values.size() == size_of(tensors_of(x))
[[nodiscard]] std::shared_ptr<const language_base>
make_base(const language_spec& x, std::vector<float> values);

/// First values: normal with deviation 0.02 (GPT-2's and Llama's output and
/// down projections by 1/sqrt(2 layers)), norms 1, biases 0. Tensor i draws
/// from derive_seed(seed, "language", i).
std::vector<float> initial_weights(const language_spec& x, std::uint64_t seed);

/// Writes FOLDER/config.json and FOLDER/model.safetensors as transformers reads
/// them: GPT-2's products lie the other way round there. `storage_failure`.
/// @pre values.size() == size_of(tensors_of(x))
[[nodiscard]] result<void> write_base(const std::filesystem::path& folder,
                                      const language_spec& x,
                                      std::span<const float> values);

} // namespace troupe::models
