#include "models/language/asked_text.hpp"

#include <algorithm>
#include <string_view>

#include "core/assert.hpp"
#include "core/text.hpp"
#include "models/language/stream_cache.hpp"
#include "models/language/word_tokens.hpp"

namespace troupe::models {

namespace {

/// Words stand apart by one space.
void append_word(std::string& to, std::string_view word) {
  word = trimmed(word);
  if (!to.empty() && !word.empty())
    to += ' ';
  to += word;
}

} // namespace

std::string said_by(const token_span& x, std::span<const token_id> row,
                    const asked_text& from, const tokenizer& by) {
  // Of a model whose numbers have run away padding may look best.
  if (x.is_none() || x.first >= row.size())
    return {};
  // They were read before, by the same.
  const auto words = word_tokens::of(from.text, by);
  TROUPE_ASSERT(words);
  const auto end = std::min(x.last + 1, row.size());
  // What is cut off left its place to what ends a text.
  const auto text_end =
    row.size() - std::min(row.size(), frame_of(by).after.size());
  std::string said;
  for (auto at = x.first; at < end;) {
    auto stop = at < from.first ? std::min(end, from.first) : end;
    const auto* word = at >= from.first && at < text_end
                         ? words->with_token(at - from.first)
                         : nullptr;
    if (word != nullptr)
      stop = std::min({end, text_end, from.first + word->last});
    if (word != nullptr && at == from.first + word->first
        && stop == from.first + word->last) {
      append_word(said, std::string_view{from.text}.substr(
                          word->begin, word->end - word->begin));
    } else {
      const auto part = by.decode(row.subspan(at, stop - at));
      TROUPE_ASSERT(part);
      append_word(said, *part);
    }
    at = stop;
  }
  return said;
}

} // namespace troupe::models
