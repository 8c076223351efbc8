#pragma once

// Texts as one stream of tokens, which a folder may keep.

#include <filesystem>
#include <span>

#include "core/result.hpp"
#include "models/language/documents.hpp"
#include "models/language/token_ids.hpp"

namespace troupe::models {

/// What stands around each text of a stream: what the tokenizer puts there or,
/// where that is nothing, its end of a text behind it.
text_frame frame_of(const tokenizer& by);

/// Ids of texts, one after the other, each in its frame. They come from
/// `cache`, a folder, where it has those of these texts and this tokenizer, and
/// are put there else; a damaged file is made anew. Files, and a folder that is
/// made, are their owner's alone. Empty: none is kept.
/// Returns `invalid_data` where a text cannot be encoded, and
/// `storage_failure`.
[[nodiscard]] result<token_ids> stream_of(std::span<const document> texts,
                                          const tokenizer& by,
                                          const std::filesystem::path& cache);

} // namespace troupe::models
