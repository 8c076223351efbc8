#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/assert.hpp"
#include "models/language/tokenizer.hpp"

namespace troupe::fuzz {

/// Only steps that would make too much of it keep a text from coming back.
inline void check_decoded(const models::tokenizer& by,
                          const std::vector<models::token_id>& ids) {
  const auto text = by.decode(ids);
  TROUPE_ASSERT(text
                || text.error().context.find("more than") != std::string::npos);
}

/// Whatever a file says, ids are below the size and have a text, and encoding
/// ends.
inline void check_tokenizer(const models::tokenizer& by) {
  using models::special_rule;
  using models::token_id;
  constexpr std::string_view text = "It's  12 \xc3\xa9\xe4\xb8\x96\n\xff<s>a";
  for (const auto how : {special_rule::as_text, special_rule::as_tokens}) {
    std::vector<token_id> ids;
    if (!by.encode(text, how, ids))
      continue;
    for (const auto id : ids) {
      TROUPE_ASSERT(id < by.size());
      static_cast<void>(by.text_of(id));
    }
    check_decoded(by, ids);
  }
  for (const auto& ids : {by.before(), by.after()})
    check_decoded(by, ids);
  TROUPE_ASSERT(
    !by.decode(std::vector<token_id>{static_cast<token_id>(by.size())}));
}

} // namespace troupe::fuzz
