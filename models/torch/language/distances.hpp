#pragma once

// Distances between tokens as DeBERTa has embeddings of them: near ones have
// one each, far ones share one by the logarithm.

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "models/language/spec.hpp"

namespace troupe::models {

/// How many distances to one side have a row of the table, which has twice as
/// many rows: half of them for those who stand before.
std::int64_t distances_of(const language_spec& x) noexcept;

/// The bucket of a distance, which has its sign; all are kept apart where there
/// are no buckets.
std::int64_t bucket_of(std::int64_t distance, const language_spec& x) noexcept;

/// [tokens x tokens], Long: the row of the table for a query's place and a
/// key's.
at::Tensor rows_of_distances(std::int64_t tokens, const language_spec& x);

} // namespace troupe::models
