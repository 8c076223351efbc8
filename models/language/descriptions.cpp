#include "models/language/descriptions.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/assert.hpp"
#include "models/language/stream_cache.hpp"

namespace troupe::models {

namespace {

std::vector<token_id> ids_of(const labelled_rows& from, split part,
                             std::uint32_t row, std::size_t count) {
  std::vector<std::int32_t> ids(from.context()), targets(from.context());
  from.read(part, row, ids, targets);
  return {ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count)};
}

} // namespace

std::optional<token_id> end_of_descriptions(const tokenizer& by) {
  const auto after = frame_of(by).after;
  return after.empty() ? by.special().end : std::optional{after.front()};
}

result<std::vector<description>>
descriptions_of(const labelled_rows& from, split part,
                std::span<const std::uint32_t> rows, const tokenizer& by) {
  TROUPE_ASSERT(from.task() == text_task::describe);
  const auto end = end_of_descriptions(by);
  std::vector<description> all;
  std::map<std::vector<token_id>, std::size_t> places;
  for (const auto row : rows) {
    const auto asked = from.asked_of(part, row);
    auto prompt = ids_of(from, part, row, asked.last + 1);
    const auto text = prompt.begin() + static_cast<std::ptrdiff_t>(asked.first);
    std::vector<token_id> meant{text, end ? std::find(text, prompt.end(), *end)
                                          : prompt.end()};
    prompt.erase(text, prompt.end());
    auto said = by.decode(meant);
    if (!said)
      return tl::make_unexpected(said.error());
    const auto [at, is_new] = places.emplace(prompt, all.size());
    if (is_new)
      all.push_back({.prompt = std::move(prompt)});
    auto& of = all[at->second];
    of.meant.push_back(std::move(*said));
    of.cut += from.is_cut(part, row) ? 1 : 0;
  }
  return all;
}

} // namespace troupe::models
