#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/language/documents.hpp"

namespace troupe::models {

/// What a text is for.
enum class text_part : std::uint8_t { train, validation, test };

/// "training", "validation" or "test".
std::string_view name_of(text_part x) noexcept;

/// Documents of a user by what they are for.
struct document_parts {
  std::vector<document> train;
  std::vector<document> validation;
  std::vector<document> test;
};

/// Of a text, by bytes.
struct part_shares {
  double validation = 0;
  double test = 0;
};

/// Drawn by a source's name alone, each part as often as its share says:
/// whoever else has texts of it has them in the same part.
text_part part_of_source(std::string_view source, const part_shares& shares,
                         std::uint64_t seed);

/// In an order that is drawn by the user's name, those of one source in one
/// part. Sources that are said are drawn as above, whoever has them. Of the
/// others a part comes as near to its share of their bytes as whole sources let
/// it. Where none is small enough, it has the smallest one; one at least is
/// trained on.
document_parts split_documents(std::vector<document> all,
                               const part_shares& shares, std::uint64_t seed,
                               std::string_view user);

} // namespace troupe::models
