#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/data/example_set.hpp"
#include "models/data/pixels.hpp"

namespace troupe::models {

/// Room for so many examples of a column, as a model takes them.
at::Tensor empty_batch(const column& from, std::size_t count);

/// Copies rows of one data set into tensors.
class batch_maker {
public:
  using rows = std::span<const std::uint32_t>;

  explicit batch_maker(const dataset& data) : pixels_(data) {
    // nop
  }

  /// The inputs of rows, for training if there is a seed: then images are
  /// augmented as a stream says that the seed begins, where the data say so.
  /// @pre `from` is of the data set, and has these rows
  std::vector<at::Tensor> inputs(const example_set& from, rows which,
                                 std::optional<std::uint64_t> seed = {}) const;

private:
  void gather(const std::uint8_t* images, std::size_t size,
              const example_set& from, rows which,
              std::optional<std::uint64_t> seed, float* to) const;

  pixel_reader pixels_;
};

at::Tensor labels_of(const example_set& from, batch_maker::rows which);

} // namespace troupe::models
