#include "policies/size_tree.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "policies/selection.hpp"

namespace troupe::policies {

namespace {

/// Clients say how many examples they have: sums of a million of these fit.
constexpr std::uint64_t size_max = std::uint64_t{1} << 40;

constexpr std::size_t lowest_bit(std::size_t x) noexcept {
  return x & (~x + 1);
}

} // namespace

size_tree::size_tree(std::span<const candidate> of) : sums_(of.size()) {
  for (std::size_t i = 0; i < of.size(); ++i) {
    const auto size = std::min(of[i].examples, size_max);
    total_ += size;
    sums_[i] += size;
    if (const auto above = i + lowest_bit(i + 1); above < sums_.size())
      sums_[above] += sums_[i];
  }
}

std::uint64_t size_tree::size_at(std::size_t place) const noexcept {
  auto x = sums_[place];
  for (std::size_t step = 1; step < lowest_bit(place + 1); step *= 2)
    x -= sums_[place - step];
  return x;
}

// Unsigned numbers go around, so that a large one takes away.
void size_tree::add(std::size_t place, std::uint64_t x) noexcept {
  total_ += x;
  for (auto i = place; i < sums_.size(); i += lowest_bit(i + 1))
    sums_[i] += x;
}

/// The place of which all before have at most `ahead` together, and all up to
/// it more.
std::size_t size_tree::find(std::uint64_t ahead) const noexcept {
  std::size_t before = 0; // So many places are before it.
  for (auto step = std::bit_floor(sums_.size()); step > 0; step /= 2)
    if (before + step <= sums_.size() && sums_[before + step - 1] <= ahead) {
      before += step;
      ahead -= sums_[before - 1];
    }
  return before;
}

std::vector<std::size_t> size_tree::draw(random_stream& random,
                                         std::size_t count) {
  count = std::min(count, size());
  std::vector<std::size_t> places;
  std::vector<std::pair<std::size_t, std::uint64_t>> taken;
  while (places.size() < count && total_ > 0) {
    const auto place = find(random.below(total_));
    taken.emplace_back(place, size_at(place));
    add(place, ~taken.back().second + 1);
    places.push_back(place);
  }
  for (const auto& [place, size] : taken)
    add(place, size);
  for (std::size_t i = 0; i < size() && places.size() < count; ++i)
    if (size_at(i) == 0)
      places.push_back(i);
  return places;
}

} // namespace troupe::policies
