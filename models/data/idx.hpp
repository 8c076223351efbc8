#pragma once

// IDX, the format of MNIST and its successors: 00 00, the type of an element,
// the number of dimensions, each extent (big-endian, 4 bytes), then the
// elements. Read as it is or inside of gzip.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "models/data/example_set.hpp"

namespace troupe::models {

/// A file of unsigned bytes.
struct idx_tensor {
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> values; ///< As many as the shape says.
};

/// Returns `invalid_data`, with `origin` in the text, unless `bytes` are one
/// whole IDX file of unsigned bytes, plain or in gzip. Allocates no more than
/// the bytes can hold.
[[nodiscard]] result<idx_tensor> parse_idx(std::span<const std::byte> bytes,
                                           std::string_view origin);

[[nodiscard]] result<idx_tensor> read_idx(const std::filesystem::path& path);

/// The four files of MNIST (`train-images-idx3-ubyte`,
/// `train-labels-idx1-ubyte`, `t10k-…`, each plain or with `.gz`). One input
/// `image` of shape 1 × rows × columns. `classes` may be 0: as many as the
/// training labels count.
[[nodiscard]] result<dataset>
read_idx_folder(const std::filesystem::path& folder, std::int64_t classes = 0);

} // namespace troupe::models
