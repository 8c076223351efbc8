#include "core/random.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <unistd.h>

#include "core/assert.hpp"

namespace troupe {

namespace {

constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

} // namespace

std::uint64_t derive_seed(std::uint64_t seed, std::string_view name,
                          std::uint64_t index) noexcept {
  std::uint64_t x = mix(seed);
  for (const char c : name)
    x = mix(x ^ static_cast<unsigned char>(c));
  return mix(mix(x ^ 0xff51afd7ed558ccdu) + index);
}

void draw_secret(std::span<std::uint8_t> to) {
  for (std::size_t done = 0; done < to.size();
       done += 256) // It gives no more at once.
    TROUPE_ASSERT(::getentropy(to.data() + done,
                               std::min<std::size_t>(to.size() - done, 256))
                  == 0);
}

random_stream::random_stream(std::uint64_t seed) noexcept {
  for (auto& x : state_) {
    x = mix(seed);
    seed += 0x9e3779b97f4a7c15u;
  }
}

std::uint64_t random_stream::operator()() noexcept {
  auto& s = state_;
  const auto result = std::rotl(s[1] * 5, 7) * 9;
  const auto t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = std::rotl(s[3], 45);
  return result;
}

double random_stream::uniform() noexcept {
  return static_cast<double>((*this)() >> 11) * 0x1.0p-53;
}

std::uint64_t random_stream::below(std::uint64_t n) noexcept {
  // Values under 2^64 mod n would favour small results; they are drawn again.
  const auto low = (0 - n) % n;
  for (;;)
    if (const auto x = (*this)(); x >= low)
      return x % n;
}

double random_stream::normal() noexcept {
  const auto radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * 3.14159265358979323846 * uniform());
}

double random_stream::gamma(double shape) noexcept {
  // Marsaglia and Tsang (2000); below 1 by their boost with a uniform power.
  if (shape < 1) {
    const auto u = 1 - uniform();
    return gamma(shape + 1) * std::pow(u, 1 / shape);
  }
  const auto d = shape - 1.0 / 3;
  const auto c = 1 / std::sqrt(9 * d);
  for (;;) {
    const auto x = normal();
    const auto v = std::pow(1 + c * x, 3);
    if (v <= 0)
      continue;
    const auto u = 1 - uniform();
    if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v))
      return d * v;
  }
}

std::vector<double> random_stream::dirichlet(std::size_t size, double alpha) {
  std::vector<double> result(size);
  double total = 0;
  for (auto& x : result) {
    x = gamma(alpha);
    total += x;
  }
  for (auto& x : result)
    // Tiny alphas can underflow to zero everywhere: then one takes all.
    x = total > 0 ? x / total : 0;
  if (!(total > 0) && size > 0)
    result[below(size)] = 1;
  return result;
}

} // namespace troupe
