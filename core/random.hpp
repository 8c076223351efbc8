#pragma once

// The only source of randomness. Streams are named, so that adding a draw in
// one place does not reshuffle all others, and every distribution is written
// here, because those of the standard library differ between implementations.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

/// The seed of the sub-stream `name`, `index` of the stream that `seed` begins.
std::uint64_t derive_seed(std::uint64_t seed, std::string_view name,
                          std::uint64_t index = 0) noexcept;

/// Fills `to` from the system's entropy: for keys, never for what a run
/// repeats.
void draw_secret(std::span<std::uint8_t> to);

/// xoshiro256** begun by splitmix64. Cheap to copy; a copy repeats the
/// original.
class random_stream {
public:
  using result_type = std::uint64_t;

  explicit random_stream(std::uint64_t seed = 0) noexcept;

  static constexpr std::uint64_t min() noexcept {
    return 0;
  }

  static constexpr std::uint64_t max() noexcept {
    return ~std::uint64_t{0};
  }

  std::uint64_t operator()() noexcept;

  /// Uniform in [0, 1), 53 bits.
  double uniform() noexcept;

  /// Uniform in [0, n), without bias. @pre n > 0
  std::uint64_t below(std::uint64_t n) noexcept;

  bool chance(double probability) noexcept {
    return uniform() < probability;
  }

  double normal() noexcept;

  /// @pre shape > 0
  double gamma(double shape) noexcept;

  /// A point of the simplex; symmetric. @pre alpha > 0
  std::vector<double> dirichlet(std::size_t size, double alpha);

  template <class T>
  void shuffle(std::span<T> xs) noexcept {
    for (std::size_t i = xs.size(); i > 1; --i)
      std::swap(xs[i - 1], xs[below(i)]);
  }

  template <class T>
  void shuffle(std::vector<T>& xs) noexcept {
    shuffle(std::span<T>{xs});
  }

  /// All that is needed to go on later.
  std::array<std::uint64_t, 4> state() const noexcept {
    return state_;
  }

  static random_stream resume(const std::array<std::uint64_t, 4>& x) noexcept {
    random_stream result;
    result.state_ = x;
    return result;
  }

private:
  std::array<std::uint64_t, 4> state_{};
};

} // namespace troupe
