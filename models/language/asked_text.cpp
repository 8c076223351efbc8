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

std::string said_by(const token_span& x, const text_window& row,
                    const asked_text& from, const tokenizer& by) {
  const auto ids = row.ids;
  // Of a model whose numbers have run away padding may look best.
  if (x.is_none() || x.first >= ids.size())
    return {};
  // They were read before, by the same.
  const auto words = word_tokens::of(from.text, by);
  TROUPE_ASSERT(words);
  const auto end = std::min(x.last + 1, ids.size());
  // What is cut off left its place to what ends a text.
  const auto text_end =
    ids.size() - std::min(ids.size(), frame_of(by).after.size());
  std::string said;
  for (auto at = x.first; at < end;) {
    auto stop = at < from.first ? std::min(end, from.first) : end;
    const bool is_text = at >= from.first && at < text_end;
    // Among all of the text's.
    const auto place = is_text ? row.skipped + at - from.first : 0;
    const auto* word = is_text ? words->with_token(place) : nullptr;
    if (word != nullptr)
      stop = std::min({end, text_end, at + (word->last - place)});
    if (word != nullptr && place == word->first
        && place + (stop - at) == word->last) {
      append_word(said, std::string_view{from.text}.substr(
                          word->begin, word->end - word->begin));
    } else {
      const auto part = by.decode(ids.subspan(at, stop - at));
      TROUPE_ASSERT(part);
      append_word(said, *part);
    }
    at = stop;
  }
  return said;
}

} // namespace troupe::models
