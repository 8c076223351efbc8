#pragma once

// One safetensors file of a language model, and the index of several. Unlike
// models/safetensors.hpp this takes values of sixteen bits, and looks at bytes
// where they lie.

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "models/language/weight_files.hpp"

namespace troupe::models {

struct weights_shard {
  std::vector<stored_tensor> tensors;
  std::vector<std::string> left_out; ///< Of whole numbers or bools.
};

/// Returns `invalid_data`, with `origin`, unless `bytes` are one whole file of
/// tensors that neither overlap nor leave gaps.
[[nodiscard]] result<weights_shard>
parse_shard(std::span<const std::byte> bytes, std::string_view origin);

/// The file of each tensor, by its name: all lie in the folder of the index.
[[nodiscard]] result<std::map<std::string, std::string>>
parse_shard_index(std::string_view text, std::string_view origin);

} // namespace troupe::models
