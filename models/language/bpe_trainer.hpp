#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "core/result.hpp"

namespace troupe::models {

struct bpe_training {
  std::uint32_t size = 4096; ///< Of the vocabulary, at most.
  std::vector<std::string> special = {"<|endoftext|>"};
  std::uint64_t least = 2; ///< What is seen less often is not merged.
};

/// A byte-level BPE with GPT-2's pattern as tokenizer.json: the 256 bytes, then
/// merges by count, of equals the pair that is less as bytes, then special
/// tokens. Texts count their pieces; order of texts changes nothing. Returns
/// `invalid_argument` for a size or special tokens that cannot be, and
/// `invalid_data` for a piece that is too long.
[[nodiscard]] result<json> train_bpe(std::span<const std::string> texts,
                                     const bpe_training& how);

} // namespace troupe::models
