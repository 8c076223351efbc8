#pragma once

// The binary versions of CIFAR-10 and CIFAR-100: records of one label
// (CIFAR-100: a coarse and a fine one) and 3 × 32 × 32 bytes, red plane first.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "models/data/example_set.hpp"

namespace troupe::models {

enum class cifar_kind : std::uint8_t { cifar10, cifar100 };

/// Appends the records to `to`, and the coarse labels of CIFAR-100 to `coarse`.
/// Returns `invalid_data`, with `origin` in the text, unless `bytes` are whole
/// records, at least one, with labels in range; then `to` is as it was.
[[nodiscard]] result<void> append_cifar(std::span<const std::byte> bytes,
                                        cifar_kind kind,
                                        std::string_view origin,
                                        example_set& to,
                                        std::vector<std::int64_t>& coarse);

/// `data_batch_1.bin` to `data_batch_5.bin` and `test_batch.bin` for CIFAR-10,
/// `train.bin` and `test.bin` for CIFAR-100, whose coarse labels become the
/// partition column. One input `image` of shape 3 × 32 × 32.
[[nodiscard]] result<dataset> read_cifar(const std::filesystem::path& folder,
                                         cifar_kind kind);

} // namespace troupe::models
