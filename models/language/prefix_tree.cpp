#include "models/language/prefix_tree.hpp"

#include <algorithm>

namespace troupe::models {

void prefix_tree::add(std::uint8_t byte) {
  nodes_.emplace_back();
  bytes_.push_back(byte);
}

prefix_tree::prefix_tree(
  std::vector<std::pair<std::string_view, token_id>> texts) {
  std::ranges::stable_sort(texts, {}, [](const auto& x) { return x.first; });
  /// Texts that begin alike, up to `depth`.
  struct stretch {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t depth = 0;
  };
  std::vector<stretch> of{{0, texts.size(), 0}}; // Of each node.
  add(0);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    auto [begin, end, depth] = of[i];
    for (; begin != end && texts[begin].first.size() == depth; ++begin)
      nodes_[i].id = texts[begin].second;
    nodes_[i].first = static_cast<place>(nodes_.size());
    while (begin != end) {
      const char byte = texts[begin].first[depth];
      auto last = begin;
      while (last != end && texts[last].first[depth] == byte)
        ++last;
      add(static_cast<std::uint8_t>(byte));
      of.push_back({begin, last, depth + 1});
      ++nodes_[i].count;
      begin = last;
    }
  }
}

prefix_tree::place prefix_tree::next(place at, char byte) const noexcept {
  const auto& x = nodes_[at];
  const auto* first = bytes_.data() + x.first;
  const auto* last = first + x.count;
  const auto wanted = static_cast<std::uint8_t>(byte);
  const auto* found = std::lower_bound(first, last, wanted);
  if (found == last || *found != wanted)
    return nowhere;
  return x.first + static_cast<place>(found - first);
}

prefix_tree::place prefix_tree::after(std::string_view text) const noexcept {
  auto at = nodes_.empty() ? nowhere : root;
  for (std::size_t i = 0; i < text.size() && at != nowhere; ++i)
    at = next(at, text[i]);
  return at;
}

std::optional<token_id> prefix_tree::ends(place at) const noexcept {
  return nodes_[at].id;
}

std::optional<token_id>
prefix_tree::find(std::string_view text) const noexcept {
  const auto at = after(text);
  return at == nowhere ? std::nullopt : ends(at);
}

prefix_tree::token_found
prefix_tree::longest(place at, std::string_view text) const noexcept {
  token_found best;
  for (std::size_t i = 0; i < text.size() && at != nowhere; ++i) {
    at = next(at, text[i]);
    if (at == nowhere)
      break;
    if (const auto id = ends(at))
      best = {.id = *id, .bytes = i + 1};
  }
  return best;
}

} // namespace troupe::models
