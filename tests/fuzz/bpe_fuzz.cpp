#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/assert.hpp"
#include "models/language/tokenizer.hpp"
#include "tests/support/small_tokenizers.hpp"

namespace {

std::shared_ptr<const troupe::models::tokenizer> small() {
  auto x = troupe::test::byte_level_json({{"t", "h"},
                                          {"th", "e"},
                                          {"\xc4\xa0", "the"},
                                          {"a", "a"},
                                          {"aa", "aa"},
                                          {"\xc3\x83", "\xc2\xa9"},
                                          {"\xc4\x8a", "\xc4\x8a"}});
  troupe::test::add_token(x, "<|end|>", 263, true);
  troupe::test::add_token(x, "   ", 264, false);
  return troupe::test::read_tokenizer(x);
}

} // namespace

// Any bytes come back, also where what looks like a special token is one.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace troupe::models;
  static const auto by = small();
  const std::string text{reinterpret_cast<const char*>(data), size};
  for (const auto how : {special_rule::as_text, special_rule::as_tokens}) {
    std::vector<token_id> ids{7};
    if (!by->encode(text, how, ids)) {
      TROUPE_ASSERT(ids.size() == 1); // A piece is too long.
      continue;
    }
    ids.erase(ids.begin());
    const auto back = by->decode(ids);
    TROUPE_ASSERT(back && *back == text);
  }
  return 0;
}
