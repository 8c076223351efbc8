#include "core/nearest.hpp"

#include <algorithm>
#include <cstddef>

namespace troupe {

namespace {

/// More than a name may have swaps.
constexpr std::size_t edit = 64;

/// Optimal string alignment: insert, delete, replace, or swap two neighbours,
/// which is the likelier of two that are as far.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(
    a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    cost[i][0] = i * edit;
  for (std::size_t j = 0; j <= b.size(); ++j)
    cost[0][j] = j * edit;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : edit;
      cost[i][j] = std::min({cost[i - 1][j] + edit, cost[i][j - 1] + edit,
                             cost[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + edit - 1);
    }
  return cost[a.size()][b.size()];
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
  std::size_t best = name.size() / 3 * edit + 1;
  std::string result;
  for (const auto& x : candidates) {
    if (x.size() > letters_max)
      continue;
    const bool whole = name.find('.') != std::string_view::npos;
    const auto distance =
      std::min(edits(small(name), small(x)),
               whole ? best : edits(small(name), small(leaf(x))));
    if (distance < best) {
      best = distance;
      result = x;
    }
  }
  return result;
}

} // namespace troupe
