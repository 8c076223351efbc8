#pragma once

// Regular expressions of people's files, which look ahead and know Unicode's
// classes. The library stands in the .cpp alone
// (docs/decisions/0039-language-stands-on-two-libraries.md).

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "core/result.hpp"

namespace troupe::models {

/// From several threads.
class text_pattern {
public:
  /// UTF, Unicode classes. `invalid_data`: "ORIGIN: pattern '…' is no regular
  /// expression at 7: …".
  [[nodiscard]] static result<text_pattern> compile(std::string_view pattern,
                                                    std::string_view origin);

  text_pattern(text_pattern&&) noexcept;
  text_pattern& operator=(text_pattern&&) noexcept;
  ~text_pattern();

private:
  friend class text_search;

  struct compiled;

  explicit text_pattern(std::unique_ptr<compiled> x);

  std::unique_ptr<compiled> compiled_;
};

/// What a pattern finds in one text, of which one thread asks. All that is
/// asked together may take so many steps for each byte of the text and for each
/// of the pattern: searching ends soon, whoever wrote both.
class text_search {
public:
  /// @pre text is UTF-8; both live as long as this
  text_search(const text_pattern& by, std::string_view text);
  ~text_search();

  text_search(const text_search&) = delete;
  text_search& operator=(const text_search&) = delete;

  struct found {
    std::size_t begin = 0, end = 0;
  };

  /// The next match at `from` or later; nothing: there is none. `invalid_data`
  /// where that takes more steps than are left.
  [[nodiscard]] result<std::optional<found>> next(std::size_t from);

private:
  struct state;

  std::unique_ptr<state> state_;
};

} // namespace troupe::models
