#pragma once

// One labelled text as a row of tokens, by its task.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/result.hpp"
#include "models/language/labelled_texts.hpp"
#include "models/language/tokenizer.hpp"

namespace troupe::models {

struct made_row {
  std::vector<token_id> ids;
  /// Of a span its ends, or those of `token_span::beyond()`; of a description
  /// where the text begins.
  std::uint32_t first = 0, last = 0;
  std::size_t text_first = 0; ///< Of a span: where its text begins.
  std::uint32_t skipped = 0;  ///< Tokens of the text before this window.
  bool is_cut = false;        ///< Some of the text is beyond the context.
  /// From there on tokens are of the second type; 0: none is.
  std::uint32_t second_from = 0;
};

class row_maker {
public:
  /// @param stride of a long text, tokens that a window has in common with the
  /// one before; 0: it has one window
  /// @pre `by` outlives it
  row_maker(text_task task, std::size_t context, std::size_t stride,
            const tokenizer& by);

  /// Of a text in which a span is asked for all its windows, of others one
  /// row, or none. A window that lacks the answer has none; where all lack it,
  /// it is beyond each of them, and only who is judged has them.
  [[nodiscard]] result<std::vector<made_row>>
  make_all(const labelled_text& text, bool is_judged) const;

  /// Nothing: the text has no token, or what is asked for is beyond the
  /// context. Two texts that are too long lose tokens at their ends, the longer
  /// one first; a tokenizer that has no template for two is `invalid_data`. Who
  /// is judged has a row all the same where that is an answer:
  /// nothing that is said of it is right.
  [[nodiscard]] result<std::optional<made_row>> make(const labelled_text& text,
                                                     bool is_judged) const;

private:
  using made = result<std::optional<made_row>>;

  made make_class(const labelled_text& text, made_row x) const;
  made make_pair(const labelled_text& text) const;
  made make_span(const labelled_text& text, made_row x, bool is_judged) const;
  result<std::vector<made_row>> make_windows(const labelled_text& text,
                                             bool is_judged) const;
  made make_description(const labelled_text& text, made_row x) const;
  void close(made_row& x) const;

  text_task task_;
  std::size_t context_;
  std::size_t stride_;
  const tokenizer& by_;
  text_frame frame_;
};

} // namespace troupe::models
