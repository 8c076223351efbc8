// A vocabulary, a token a line whose first byte is its score, and after a zero
// a piece.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/assert.hpp"
#include "models/language/piece_model.hpp"

namespace {

using scored_list = std::vector<std::pair<std::string, double>>;

constexpr std::size_t compared_max = 256; // Bytes of a piece.

/// The most that scores of tokens in a row add up to.
double best_sum(const scored_list& all, std::string_view piece) {
  constexpr double never = -std::numeric_limits<double>::infinity();
  std::vector<double> to(piece.size() + 1, never);
  to[0] = 0;
  for (std::size_t at = 0; at < piece.size(); ++at)
    for (std::size_t i = 1; i < all.size(); ++i) {
      const auto& [token, score] = all[i];
      if (token.empty() || !piece.substr(at).starts_with(token))
        continue;
      auto& x = to[at + token.size()];
      x = std::max(x, to[at] + score);
    }
  return to.back();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace troupe::models;
  std::string_view text{reinterpret_cast<const char*>(data), size};
  scored_list vocabulary{{"<unk>", -1}};
  const auto end = text.find('\0');
  auto lines = text.substr(0, end);
  while (!lines.empty()) {
    const auto line = lines.substr(0, lines.find('\n'));
    if (!line.empty())
      vocabulary.emplace_back(line.substr(1),
                              -static_cast<double>(line[0] & 0x3f) / 8);
    lines.remove_prefix(line.size() < lines.size() ? line.size() + 1
                                                   : line.size());
  }
  const auto piece =
    end == text.npos ? std::string_view{} : text.substr(end + 1);
  const bool fallback = size % 2 == 1;
  const auto x = make_unigram(vocabulary, 0, fallback, "fuzz");
  if (!x)
    return 0;
  std::vector<token_id> ids;
  if (!(*x)->encode(piece, ids)) {
    TROUPE_ASSERT(piece.size() > 65'536);
    return 0;
  }
  double sum = 0;
  std::string back;
  bool known = true;
  for (const auto id : ids) {
    TROUPE_ASSERT(id < (*x)->size());
    known &= id != 0 && !vocabulary[id].first.starts_with("<0x");
    sum += vocabulary[id].second;
    back += vocabulary[id].first;
  }
  if (!known || piece.size() > compared_max)
    return 0;
  TROUPE_ASSERT(back == piece);
  // Of equal tokens the last counts, and may be the worse one.
  std::vector<std::string> texts;
  for (const auto& token : vocabulary)
    texts.push_back(token.first);
  std::ranges::sort(texts);
  if (std::ranges::adjacent_find(texts) == texts.end())
    TROUPE_ASSERT(std::abs(sum - best_sum(vocabulary, piece)) < 1e-9);
  return 0;
}
