#pragma once

// What a file and its overrides say, by full path, before anything is made of
// it. The only place that meets the TOML library.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "node/config/config.hpp"

namespace troupe::node {

/// Something that no key takes, such as a date; the text names it.
struct foreign {
  std::string what;
};

struct entry {
  std::variant<foreign, bool, std::int64_t, double, std::string,
               std::vector<std::int64_t>, std::vector<double>,
               std::vector<std::string>>
    value;
  std::string where;              ///< "file.toml:3", or "--set key=value".
  std::string typed;              ///< The key as it was written.
  std::optional<std::string> raw; ///< Of an override: its text, not yet TOML.

  /// What was found, for an error text.
  std::string found() const;
};

using entries = std::map<std::string, entry>;

/// What is wrong; its text has the first ten, in the order of the file.
class problems {
public:
  /// What would do instead. It is only asked for what is shown.
  using hint = std::function<std::string()>;

  void add(std::string_view where, std::string_view what, hint would_do = {});

  bool empty() const noexcept {
    return count_ == 0;
  }

  std::string text() const;

private:
  struct line {
    int number; ///< In the file; 0 for an override.
    std::string where;
    std::string what;
    hint would_do;
  };

  std::vector<line> shown_; ///< By number.
  std::size_t count_ = 0;
};

/// Reads the file, then the overrides, which win. Keys that are unknown,
/// ambiguous or given twice are problems. A plain key anywhere at the top of
/// the file is read like one in an override.
entries read_entries(config_source from, std::span<const std::string> overrides,
                     const method_list& methods, problems& wrong);

} // namespace troupe::node
