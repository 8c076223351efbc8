#pragma once

// Files of SQLite that are damaged row by row, where it finds nothing wrong.

#include <filesystem>
#include <string>
#include <vector>

#include "core/random.hpp"

namespace troupe::damage {

struct column {
  std::string table;
  std::string name;
  std::string key; ///< What tells rows of that table apart.
};

/// Of all tables. @pre the file is whole
std::vector<column> columns_of(const std::string& file,
                               const std::filesystem::path& scratch);

/// The file after one value of one row, or a row more or less, is another.
std::string changed(const std::string& file,
                    const std::filesystem::path& scratch, const column& x,
                    random_stream& draw);

} // namespace troupe::damage
