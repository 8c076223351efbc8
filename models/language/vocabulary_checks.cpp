#include "models/language/vocabulary_checks.hpp"

#include <map>
#include <string>

#include "core/limits.hpp"
#include "core/text.hpp"

namespace troupe::models {

result<void> check_count_of_tokens(std::size_t tokens,
                                   std::string_view origin) {
  if (tokens == 0)
    return fail(errc::invalid_data,
                std::string{origin}
                  + ": the vocabulary is empty; one with tokens would do");
  if (tokens > limits::vocabulary_max)
    return fail(errc::invalid_data,
                std::string{origin} + ": the vocabulary has "
                  + std::to_string(tokens) + " tokens; at most "
                  + std::to_string(limits::vocabulary_max) + " would do");
  return {};
}

result<void> check_count_of_merges(std::size_t merges,
                                   std::string_view origin) {
  if (merges <= limits::merges_max)
    return {};
  return fail(errc::invalid_data, std::string{origin} + ": it has more than "
                                    + std::to_string(limits::merges_max)
                                    + " merges, and no more are read");
}

result<void> check_bytes_of_tokens(std::size_t bytes, std::string_view origin) {
  if (bytes <= limits::vocabulary_bytes_max)
    return {};
  return fail(errc::invalid_data,
              std::string{origin} + ": the vocabulary has tokens of "
                + std::to_string(bytes) + " bytes; at most "
                + std::to_string(limits::vocabulary_bytes_max)
                + " of all would do");
}

result<void> check_token(std::size_t id, std::string_view text,
                         std::string_view origin) {
  if (text.size() > limits::token_bytes_max)
    return fail(errc::invalid_data,
                std::string{origin} + ": token " + std::to_string(id) + " has "
                  + std::to_string(text.size()) + " bytes; at most "
                  + std::to_string(limits::token_bytes_max) + " would do");
  if (!is_utf8(text))
    return fail(errc::invalid_data,
                std::string{origin} + ": token " + std::to_string(id) + ", "
                  + in_quotes(shortened(text))
                  + ", is no UTF-8; a vocabulary of letters would do");
  return {};
}

result<void> check_added_texts(std::span<const added_token> added,
                               std::string_view origin) {
  std::map<std::string_view, token_id> ids;
  for (const auto& x : added) {
    const auto begin = std::string{origin} + ": its added token "
                       + in_quotes(shortened(x.text)) + " has ";
    if (x.text.size() > limits::token_bytes_max)
      return fail(errc::invalid_data,
                  begin + std::to_string(x.text.size()) + " bytes; at most "
                    + std::to_string(limits::token_bytes_max) + " would do");
    const auto [at, is_new] = ids.emplace(x.text, x.id);
    if (!is_new && at->second != x.id)
      return fail(errc::invalid_data,
                  begin + "the ids " + std::to_string(at->second) + " and "
                    + std::to_string(x.id) + "; one would do");
  }
  return {};
}

} // namespace troupe::models
