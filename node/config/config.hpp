#pragma once

// A configuration: TOML in, one resolved experiment out, and back.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "node/config/experiment.hpp"

namespace troupe::node {

/// The methods that a configuration may name.
struct method_list {
  std::vector<const recipe*> built;
  std::vector<std::string> planned; ///< Known, and not built yet.

  const recipe* find(std::string_view name) const noexcept;

  /// Some built method has an option of this name, or had one.
  bool has_option(std::string_view name) const;
};

/// What policies::catalogue() has.
const method_list& all_methods();

struct loaded_config {
  experiment x;
  std::vector<std::string> notes; ///< Keys without effect, as "where: what".
  /// Keys that simulations alone have, as "where: 'key'".
  std::vector<std::string> simulated = {};
};

/// A text and the name under which its errors speak of it.
struct config_source {
  std::string_view text;
  std::string_view origin;
  /// It is of this machine, and so are the paths that it names: whose texts
  /// there are may be looked up.
  bool is_here = false;
};

/// Reads a configuration; each override is "key=value", with a dotted key or a
/// plain one. A refusal is `invalid_config` with up to ten lines, each of which
/// names the file and line (or the override), the key, what was found and what
/// would do.
[[nodiscard]] result<loaded_config>
parse_config(config_source from, std::span<const std::string> overrides = {},
             const method_list& methods = all_methods());

/// A text that people write. Returns `storage_failure` if it cannot be read, or
/// is a folder, of which a stream would throw.
[[nodiscard]] result<std::string> read_text(const std::string& path);

/// The same from a file. Returns `storage_failure` if it cannot be read.
[[nodiscard]] result<loaded_config>
load_config(const std::string& path,
            std::span<const std::string> overrides = {},
            const method_list& methods = all_methods());

/// Of a run that is served: what simulations alone have keeps its defaults, and
/// each key of it that was given is noted.
void leave_out_simulation(loaded_config& from);

/// All keys that have an effect, as TOML that parses to the same experiment.
std::string write_config(const experiment& x);

/// The two are written the same.
bool same(const experiment& x, const experiment& y);

} // namespace troupe::node
