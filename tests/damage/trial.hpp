#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/damage/reader.hpp"

namespace troupe::damage {

struct trial_options {
  std::uint64_t inputs = 1000;
  std::uint64_t seed = 1;
  unsigned seconds_max = 30; ///< For one input.
  std::filesystem::path scratch;
};

struct outcome {
  std::uint64_t inputs = 0;
  std::uint64_t refused = 0;
  std::uint64_t accepted = 0;
  std::uint64_t crashes = 0; ///< Also what takes a gigabyte.
  std::uint64_t hangs = 0;
  std::uint64_t wrong = 0;
  std::vector<std::string> notes; ///< Which ones.

  bool harmed() const noexcept {
    return crashes + hangs + wrong > 0;
  }
};

/// The input of that number.
std::string input_of(const reader& x, std::uint64_t seed, std::uint64_t number);

/// Gives a reader so many inputs, in processes of their own: who dies of one is
/// followed by another, which goes on.
outcome try_all(const reader& x, const trial_options& opts);

} // namespace troupe::damage
