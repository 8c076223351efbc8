#include "core/nearest.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace troupe {

namespace {

/// Optimal string alignment: insert, delete, replace, or swap two neighbours.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(
    a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j)
    cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      cost[i][j] = std::min(
        {cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  return cost[a.size()][b.size()];
}

/// Of two that are as far the likelier has the same letters.
using distance = std::pair<std::size_t, bool>;

distance between(const std::string& a, const std::string& b) {
  return {edits(a, b), !std::ranges::is_permutation(a, b)};
}

/// Of our names none has other letters.
std::string small(std::string_view x) {
  std::string out{x};
  for (auto& c : out)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return out;
}

} // namespace

std::string nearest(std::string_view name,
                    const std::vector<std::string>& candidates) {
  constexpr std::size_t letters_max = 64;
  if (name.size() > letters_max) // No name of ours is so long.
    return {};
  const auto leaf = [](std::string_view x) {
    return x.substr(x.rfind('.') + 1);
  };
  // A third of the letters may be wrong; more is another word.
  distance best{name.size() / 3, true};
  std::string result;
  for (const auto& x : candidates) {
    if (x.size() > letters_max)
      continue;
    const bool whole = name.find('.') != std::string_view::npos;
    auto apart = between(small(name), small(x));
    if (!whole)
      apart = std::min(apart, between(small(name), small(leaf(x))));
    if (apart < best || (result.empty() && apart == best)) {
      best = apart;
      result = x;
    }
  }
  return result;
}

} // namespace troupe
