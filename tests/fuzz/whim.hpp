#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace troupe::fuzz {

/// What somebody does at each step, as bytes say: small numbers mostly, and at
/// times one at which arithmetic ends.
class whim {
public:
  explicit whim(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  bool done() const noexcept {
    return rest_.empty();
  }

  std::uint8_t byte() noexcept {
    if (rest_.empty())
      return 0;
    const auto x = rest_.front();
    rest_ = rest_.subspan(1);
    return x;
  }

  /// Below `end`.
  std::size_t below(std::size_t end) noexcept {
    return byte() % end;
  }

  bool coin() noexcept {
    return (byte() & 1U) != 0;
  }

  std::uint64_t number() noexcept {
    constexpr std::array extremes{
      ~std::uint64_t{0},      ~std::uint64_t{0} - 1,
      std::uint64_t{1} << 63, (std::uint64_t{1} << 63) - 1,
      std::uint64_t{1} << 32, (std::uint64_t{1} << 32) - 1};
    const auto x = byte();
    return x < 240 ? x % 16 : extremes[x % extremes.size()];
  }

  double real() noexcept {
    constexpr std::array reals{0.0,  0.25,   0.5,    0.75,     1.0,      2.0,
                               50.0, -1.0,   1e-300, -0.0,     1e30,     1e300,
                               1e12, 1.1e12, -1e308, infinity, no_number};
    return reals[below(reals.size())];
  }

private:
  static constexpr double infinity = __builtin_inf();
  static constexpr double no_number = __builtin_nan("");

  std::span<const std::uint8_t> rest_;
};

} // namespace troupe::fuzz
