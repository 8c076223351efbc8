#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/assert.hpp"
#include "models/language/tokenizer.hpp"

namespace {

/// Only steps that would make too much of it keep a text from coming back.
void check_decoded(const troupe::models::tokenizer& by,
                   const std::vector<troupe::models::token_id>& ids) {
  const auto text = by.decode(ids);
  TROUPE_ASSERT(text
                || text.error().context.find("more than") != std::string::npos);
}

} // namespace

// Whatever a file says, ids are below the size and have a text, and encoding
// ends.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace troupe::models;
  const auto said =
    troupe::json::parse({reinterpret_cast<const char*>(data), size});
  if (!said)
    return 0;
  const auto by = parse_tokenizer(*said, "fuzz");
  if (!by)
    return 0;
  const auto& x = **by;
  constexpr std::string_view text = "It's  12 \xc3\xa9\xe4\xb8\x96\n\xff<s>a";
  for (const auto how : {special_rule::as_text, special_rule::as_tokens}) {
    std::vector<token_id> ids;
    if (!x.encode(text, how, ids))
      continue;
    for (const auto id : ids) {
      TROUPE_ASSERT(id < x.size());
      static_cast<void>(x.text_of(id));
    }
    check_decoded(x, ids);
  }
  for (const auto& ids : {x.before(), x.after()})
    check_decoded(x, ids);
  TROUPE_ASSERT(
    !x.decode(std::vector<token_id>{static_cast<token_id>(x.size())}));
  return 0;
}
