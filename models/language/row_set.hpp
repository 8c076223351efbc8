#pragma once

// Rows of labelled texts behind each other: a row of each text and, behind all
// of these, the later windows of those that have several.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/language/row_maker.hpp"
#include "models/language/token_rows.hpp"
#include "models/language/tokenizer.hpp"
#include "models/layout.hpp"

namespace troupe::models {

struct row_set {
  struct row {
    std::size_t begin = 0, size = 0; ///< Among the ids.
    std::uint32_t label = 0;
    /// Of a span its ends; of a description where the text begins.
    std::uint32_t first = 0, last = 0;
    std::uint32_t text = 0;    ///< The row with which its text begins.
    std::uint32_t skipped = 0; ///< Tokens of its text before it.
    bool is_cut = false;
    std::uint32_t second_from = 0; ///< As in made_row.
    later_windows later = {};
  };

  std::vector<token_id> ids;
  std::vector<row> rows;
  std::vector<row> later; ///< Until all are there, then behind the rows.
  std::size_t texts = 0;  ///< As soon as all are there.

  /// @pre there is a window, and `close` was not called
  void add(const std::vector<made_row>& windows, std::uint32_t label);

  /// All are there.
  void close();

  /// Adds digests of all that is learned from them, by names that begin so.
  void say(const std::string& name, std::map<std::string, digest>& to) const;
};

} // namespace troupe::models
