#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace troupe::models {

/// One input tensor of all examples, example-major. Bytes are pixels: a model
/// reads them as value / 255, or as `dataset::pixels` says.
struct column {
  std::string name;
  std::vector<std::int64_t> shape; ///< Of one example.
  std::variant<std::vector<float>, std::vector<std::int64_t>,
               std::vector<std::uint8_t>>
    values;
};

struct example_set {
  std::size_t size = 0;
  std::vector<column> inputs;
  std::vector<std::int64_t> labels; ///< In [0, classes).
  /// By how many quarters each image lies turned; empty: by none.
  std::vector<std::uint8_t> turns = {};
  /// The domain that each row is in, from 0; empty: there are none.
  std::vector<std::uint8_t> domains = {};
};

/// Which rows each client holds. Entry k of both lists is client k + 1's.
struct partition {
  std::vector<std::vector<std::uint32_t>> train;
  std::vector<std::vector<std::uint32_t>> test;
  std::size_t held_out = 0; ///< The last so many clients are never invited.
  /// Training rows that nobody holds: what a run may stop or select by.
  std::vector<std::uint32_t> validation = {};
  /// The same, by the clients whose rows they were.
  std::vector<std::vector<std::uint32_t>> own_validation = {};
  /// Of the one client that has what many users have: each user's test rows,
  /// which are scored by themselves, as a client's. Empty: there is no such.
  std::vector<std::vector<std::uint32_t>> users_test = {};
  /// Of each test row the anchor that has rows of its kind, from 0; a kind that
  /// no anchor has: the largest number. Empty: unknown.
  std::vector<std::uint32_t> test_owners = {};
};

/// What training does to images, to see more of them than there are.
enum class augmentation : std::uint8_t {
  none,
  crop_flip, ///< Mirrored or not, then a piece cut out of it with zeros around.
};

/// What becomes of pixels on their way into a model.
struct pixel_options {
  /// Of each channel, or one number for all: a model reads (value / 255 - mean)
  /// / deviation. Empty: 0 and 1.
  std::vector<double> mean = {};
  std::vector<double> deviation = {};
  augmentation augment = augmentation::none;
  std::uint32_t crop = 4; ///< How wide the zeros around are.
};

/// A task: what there is to learn from and to be scored on. Nobody changes it
/// once it is loaded, so all threads share it.
struct dataset {
  std::string name;
  example_set train;
  example_set test;
  std::int64_t classes = 0;
  /// Where a partition by column reads from: a value per training example.
  std::vector<std::int64_t> partition_column = {};
  /// Who holds what, where the data itself says so.
  std::optional<partition> natural = {};
  pixel_options pixels = {};
};

} // namespace troupe::models
