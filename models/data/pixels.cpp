#include "models/data/pixels.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "core/assert.hpp"

namespace troupe::models {

namespace {

constexpr std::size_t byte_values = 256;

bool is_image(const dataset& data) {
  const auto& inputs = data.train.inputs;
  return inputs.size() == 1
         && (inputs[0].shape.size() == 2 || inputs[0].shape.size() == 3)
         && std::holds_alternative<std::vector<std::uint8_t>>(inputs[0].values);
}

std::size_t channels_of(const column& x) {
  return x.shape.size() == 3 ? static_cast<std::size_t>(x.shape[0]) : 1;
}

} // namespace

result<void> set_pixels(dataset& data, pixel_options how) {
  const auto refuse = [&](const std::string& what) {
    return fail(errc::invalid_config, "data '" + data.name + "' " + what);
  };
  const auto count = how.mean.size();
  if (count != how.deviation.size())
    return refuse("is given " + std::to_string(count)
                  + " numbers of 'mean' and "
                  + std::to_string(how.deviation.size())
                  + " of 'deviation'; as many would do");
  for (const auto x : how.deviation)
    if (!(x > 0))
      return refuse("is given a 'deviation' of " + std::to_string(x)
                    + "; numbers above 0 would do");
  if (count == 0 && how.augment == augmentation::none)
    return {};
  if (!is_image(data))
    return refuse("has no images of bytes, which 'mean', 'deviation' and "
                  "'augment' are for");
  const auto channels = channels_of(data.train.inputs[0]);
  if (count > 1 && count != channels)
    return refuse("has images of " + std::to_string(channels)
                  + " channels, and 'mean' has " + std::to_string(count)
                  + " numbers; a number for each, or one for all, would do");
  data.pixels = std::move(how);
  return {};
}

pixel_reader::pixel_reader(const dataset& data)
  : augments_(data.pixels.augment != augmentation::none),
    crop_(data.pixels.crop) {
  const auto& how = data.pixels;
  // Without a mean this is value / 255 to the bit: a quotient in double that is
  // rounded to float is that of floats.
  for (std::size_t c = 0; c < std::max<std::size_t>(how.mean.size(), 1); ++c) {
    const auto mean = how.mean.empty() ? 0 : how.mean[c];
    const auto deviation = how.mean.empty() ? 1 : how.deviation[c];
    auto& table = values_.emplace_back(byte_values);
    for (std::size_t i = 0; i < byte_values; ++i)
      table[i] =
        static_cast<float>((static_cast<double>(i) / 255 - mean) / deviation);
  }
  if (augments_) {
    TROUPE_ASSERT(is_image(data));
    const auto& shape = data.train.inputs[0].shape;
    height_ = static_cast<std::size_t>(shape[shape.size() - 2]);
    width_ = static_cast<std::size_t>(shape.back());
  }
}

void pixel_reader::read(std::span<const std::uint8_t> image,
                        float* to) const noexcept {
  const auto plane = image.size() / values_.size();
  const auto* from = image.data();
  for (const auto& table : values_)
    for (std::size_t i = 0; i < plane; ++i)
      *to++ = table[*from++];
}

// Who drew these images changed them first and turned them then. A piece cut at
// random is the same in distribution whichever comes first; what mirrors left
// and right before a turn by one quarter or three mirrors up and down after it.
void pixel_reader::read_changed(std::span<const std::uint8_t> image,
                                std::uint8_t quarters, random_stream& draws,
                                float* to) const noexcept {
  const bool mirrors = draws.chance(0.5);
  const bool up_down = mirrors && quarters % 2 == 1;
  const bool left_right = mirrors && !up_down;
  const auto down = draws.below(2 * crop_ + 1);
  const auto right = draws.below(2 * crop_ + 1);
  const auto plane = height_ * width_;
  for (std::size_t at = 0; at < image.size(); at += plane) {
    const auto channel = at / plane;
    const auto& table = values_[values_.size() == 1 ? 0 : channel];
    for (std::size_t y = 0; y < height_; ++y)
      for (std::size_t x = 0; x < width_; ++x) {
        // Above and left of the image these wrap around to what is outside.
        const auto from_y = y + down - crop_, from_x = x + right - crop_;
        std::uint8_t pixel = 0;
        if (from_y < height_ && from_x < width_)
          pixel = image[at + (up_down ? height_ - 1 - from_y : from_y) * width_
                        + (left_right ? width_ - 1 - from_x : from_x)];
        *to++ = table[pixel];
      }
  }
}

} // namespace troupe::models
