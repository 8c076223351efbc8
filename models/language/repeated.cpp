// What stands in several documents, such as a licence: whoever has it in a text
// to be tested on would have seen it in training.

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "core/text.hpp"
#include "models/language/documents.hpp"
#include "models/layout.hpp"

namespace troupe::models {

namespace {

constexpr std::size_t paragraph_min = 80; // Bytes.

/// Paragraphs, each with the empty lines behind it: together all of the text.
std::vector<std::string_view> paragraphs_of(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t begin = 0;
  bool ended = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const bool is_empty = trimmed(text.substr(at, end - at)).empty();
    if (ended && !is_empty) {
      out.push_back(text.substr(begin, at - begin));
      begin = at;
    }
    ended = is_empty;
    at = end;
  }
  if (begin < text.size())
    out.push_back(text.substr(begin));
  return out;
}

/// Those of the documents before, and how many were dropped.
struct seen_paragraphs {
  std::set<digest> seen;
  std::uint64_t dropped = 0;

  void drop_from(std::string& text) {
    std::string left;
    std::set<digest> own;
    for (const auto paragraph : paragraphs_of(text)) {
      const auto words = trimmed(paragraph);
      if (words.size() >= paragraph_min) {
        const auto content = digest_of(std::as_bytes(std::span{words}));
        if (seen.contains(content)) {
          ++dropped;
          continue;
        }
        own.insert(content);
      }
      left += paragraph;
    }
    seen.merge(own);
    text = std::move(left);
  }
};

} // namespace

std::uint64_t drop_repeated(std::vector<user_text>& users) {
  seen_paragraphs all;
  for (auto& user : users) {
    const auto before = all.dropped;
    for (auto& document : user.documents)
      all.drop_from(document.text);
    user.dropped = all.dropped - before;
    std::erase_if(user.documents,
                  [](const document& x) { return trimmed(x.text).empty(); });
  }
  return all.dropped;
}

std::string about_repeats(std::uint64_t dropped) {
  if (dropped == 0)
    return "";
  return dropped == 1 ? ": 1 paragraph was left out, which an earlier document "
                        "has too"
                      : ": " + std::to_string(dropped)
                          + " paragraphs were left out, which earlier "
                            "documents have too";
}

} // namespace troupe::models
