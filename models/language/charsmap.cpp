// SentencePiece's table of what becomes of letters, as a tokenizer.json carries
// it: in base64 the size of a double array of bytes, that array, and the texts,
// each with a zero behind it, of which the array's leaves say where they begin.

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "models/language/pipeline_steps.hpp"
#include "models/language/tokenizer_parts.hpp"
#include "models/language/unicode.hpp"

namespace troupe::models {

namespace {

std::optional<std::string> from_base64(std::string_view x) {
  constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmno"
    "pqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0; // Of bits that are no byte yet.
  while (x.ends_with('='))
    x.remove_suffix(1);
  for (const auto c : x) {
    const auto digit = digits.find(c);
    if (digit == digits.npos)
      return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xff);
    }
  }
  return bytes;
}

class letter_map {
public:
  /// @pre all has a size that is there
  explicit letter_map(const std::string& all) {
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, all.data(), sizeof bytes);
    units_.resize(bytes / sizeof(std::uint32_t));
    if (!units_.empty())
      std::memcpy(units_.data(), all.data() + sizeof bytes, bytes);
    texts_ = all.substr(sizeof bytes + bytes);
  }

  // What the files' authors' library calls a letter with its marks becomes what
  // the shortest beginning of it that is in the table does, if it is short.
  std::string mapped(std::string_view text) const {
    const auto most = most_made_of(text.size()); // Nobody takes more.
    std::string all;
    for (std::size_t at = 0; at < text.size() && all.size() <= most;) {
      const auto size = with_marks(text, at);
      const auto whole = text.substr(at, size);
      const auto* found = size < 6 ? find(whole) : nullptr;
      if (found != nullptr)
        all += found;
      for (std::size_t i = 0; found == nullptr && i < size;) {
        const auto letter = whole.substr(i, letter_at(whole, i).bytes);
        const auto* other = find(letter);
        if (other != nullptr)
          all += other;
        else
          all += letter;
        i += letter.size();
      }
      at += size;
    }
    return all;
  }

private:
  /// The bytes of a letter and of what stands on it.
  static std::size_t with_marks(std::string_view text, std::size_t at) {
    if (text.substr(at, 2) == "\r\n")
      return 2;
    const auto first = letter_at(text, at);
    const auto kind = class_of(first.value);
    auto end = at + first.bytes;
    if (kind == letter_class::control || kind == letter_class::other)
      return first.bytes;
    while (end < text.size()) {
      const auto x = letter_at(text, end);
      const bool joins = x.value == 0x200c || x.value == 0x200d;
      if (!joins && class_of(x.value) != letter_class::mark)
        break;
      end += x.bytes;
    }
    return end - at;
  }

  /// Null: no beginning of it is there.
  const char* find(std::string_view text) const noexcept {
    if (units_.empty())
      return nullptr;
    auto at = offset_of(units_.front());
    for (const auto c : text) {
      const auto byte = static_cast<unsigned char>(c);
      at ^= byte;
      if (byte == 0 || at >= units_.size()
          || (units_[at] & 0x800000ffU) != byte)
        return nullptr;
      const auto unit = units_[at];
      at ^= offset_of(unit);
      if ((unit >> 8 & 1) == 0)
        continue;
      const auto place = at < units_.size() ? units_[at] & 0x7fffffffU : ~0U;
      return place < texts_.size() ? texts_.c_str() + place : nullptr;
    }
    return nullptr;
  }

  static std::size_t offset_of(std::uint32_t unit) noexcept {
    return std::size_t{unit >> 10} << ((unit & 1U << 9) >> 6);
  }

  std::vector<std::uint32_t> units_;
  std::string texts_;
};

} // namespace

result<text_step> charsmap_step(const json& x, std::string_view origin) {
  const auto all = from_base64(text_in(x, "precompiled_charsmap", ""));
  std::uint32_t bytes = 0;
  if (all && all->size() >= sizeof bytes)
    std::memcpy(&bytes, all->data(), sizeof bytes);
  if (!all || all->size() < sizeof bytes || bytes > all->size() - sizeof bytes
      || bytes % sizeof bytes != 0)
    return refuse_tokenizer(origin,
                            "its normalizer Precompiled has no whole "
                            "precompiled_charsmap; that of the file as it was "
                            "published would do");
  return text_step{[map = std::make_shared<const letter_map>(*all)](
                     const std::string& text) -> result<std::string> {
    return map->mapped(text);
  }};
}

} // namespace troupe::models
