#pragma once

// How images become inputs: each channel brought to a known mean and deviation,
// and in training mirrored and cut by chance. No image is changed where it
// lies.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/random.hpp"
#include "core/result.hpp"
#include "models/data/example_set.hpp"

namespace troupe::models {

/// Says how the images of `data` become inputs. Returns `invalid_config` if
/// there is something to be done and they are no images (one input of bytes,
/// height x width or channels x height x width), or the numbers do not fit
/// their channels.
[[nodiscard]] result<void> set_pixels(dataset& data, pixel_options how);

/// Makes inputs of the images of one data set.
class pixel_reader {
public:
  /// @pre `set_pixels` took the options, or they are the default
  explicit pixel_reader(const dataset& data);

  bool augments() const noexcept {
    return augments_;
  }

  /// Writes an image as it is. @pre `to` has the image's size
  void read(std::span<const std::uint8_t> image, float* to) const noexcept;

  /// Writes an image of training that lies turned by so many quarters, changed
  /// as the next three draws say. @pre augments()
  void read_changed(std::span<const std::uint8_t> image, std::uint8_t quarters,
                    random_stream& draws, float* to) const noexcept;

private:
  /// What each byte is as an input, by channel; one for all where all are the
  /// same.
  std::vector<std::vector<float>> values_;
  bool augments_;
  std::size_t crop_;
  std::size_t height_ = 0; ///< Known where images are augmented.
  std::size_t width_ = 0;
};

} // namespace troupe::models
