// A vocabulary, a token a line, and after a zero a piece.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/assert.hpp"
#include "models/language/piece_model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace troupe::models;
  std::string_view text{reinterpret_cast<const char*>(data), size};
  vocabulary_list vocabulary{{"[UNK]", 0}};
  const auto end = text.find('\0');
  auto lines = text.substr(0, end);
  while (!lines.empty()) {
    const auto line = lines.substr(0, lines.find('\n'));
    vocabulary.emplace_back(line, static_cast<token_id>(vocabulary.size()));
    lines.remove_prefix(line.size() < lines.size() ? line.size() + 1
                                                   : line.size());
  }
  const auto piece =
    end == text.npos ? std::string_view{} : text.substr(end + 1);
  const auto x = make_wordpiece(std::move(vocabulary), {}, "fuzz");
  if (!x)
    return 0;
  std::vector<token_id> ids;
  TROUPE_ASSERT((*x)->encode(piece, ids));
  for (const auto id : ids)
    TROUPE_ASSERT(id < (*x)->size());
  if (ids.size() == 1 && ids[0] == 0)
    return 0;
  std::string back;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto token = (*x)->text_of(ids[i]);
    TROUPE_ASSERT(i == 0 || token.starts_with("##"));
    back += token.substr(i == 0 ? 0 : 2);
  }
  TROUPE_ASSERT(back == piece);
  return 0;
}
