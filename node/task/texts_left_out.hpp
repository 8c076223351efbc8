#pragma once

// What of texts nobody learns: who runs something
// over them hears it once, and need not have asked `troupe data inspect`.

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "models/language/labelled_rows.hpp"
#include "models/language/language_data.hpp"
#include "node/config/experiment.hpp"

namespace troupe::node {

struct texts_left_out {
  std::uint64_t paragraphs = 0; ///< That an earlier text has, too.
  std::uint64_t texts = 0;      ///< Of which nothing is there, or left.
  std::uint64_t rows = 0;       ///< As of models::labelled_rows.
  /// Files beside those of users that are nobody's.
  std::vector<std::string> files = {};
};

texts_left_out left_out_of(const models::language_data& x);
texts_left_out left_out_of(const models::labelled_rows& x);

/// Files beside those of users, where a run has all who are there; else none.
std::vector<std::string> files_left_out(const data_options& x);

/// Without an end; empty: there are none.
std::string about_files(const std::vector<std::string>& files);

/// One line for people; empty: there is nothing to say.
std::string about_left_out(const texts_left_out& x);

json to_json(const texts_left_out& x);

} // namespace troupe::node
