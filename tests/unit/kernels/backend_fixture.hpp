#pragma once

// Each law of the conformance suite runs over every backend: the CPU's, the
// GPU's where there is one, and the reference, so that the specification obeys
// them too.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/random.hpp"
#include "kernels/backend.hpp"
#include "kernels/reference.hpp"

namespace troupe::kernels {

using floats = std::vector<float>;
using doubles = std::vector<double>;

// Around vector, warp, block and tile widths, where tails are forgotten.
inline constexpr std::size_t odd_sizes[] = {0,    1,    3,    31,   33,   257,
                                            1023, 1025, 2047, 2048, 2049, 4099};

/// Values of very different sizes: where plain sums depend on their order.
inline floats draw(std::size_t size, std::uint64_t seed) {
  random_stream random{seed};
  floats result(size);
  for (auto& x : result)
    x = static_cast<float>(
      std::ldexp(random.normal(), -static_cast<int>(random.below(24))));
  return result;
}

inline result<std::unique_ptr<backend>> make_named(std::string_view name) {
  if (name == "reference")
    return make_reference_backend();
  return make_backend({name == "cuda" ? device_kind::cuda : device_kind::cpu});
}

class backend_test : public ::testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    auto made = make_named(GetParam());
    if (!made) {
      ASSERT_EQ(made.error().code, errc::unsupported) << made.error().context;
      GTEST_SKIP() << made.error().context;
    }
    testee = std::move(*made);
  }

  /// Devices agree to the bit; the reference has more digits.
  bool has_bits_of_cpu() const {
    return GetParam() != "reference";
  }

  std::unique_ptr<backend> testee;
  std::unique_ptr<backend> cpu = make_named("cpu").value();
  std::unique_ptr<backend> reference = make_reference_backend();
};

#define TROUPE_FOR_ALL_BACKENDS(suite)                                         \
  INSTANTIATE_TEST_SUITE_P(all, suite,                                         \
                           ::testing::Values("cpu", "cuda", "reference"),      \
                           [](const auto& x) { return x.param; })

} // namespace troupe::kernels
