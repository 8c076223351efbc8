#include "node/task/language_files.hpp"

#include <system_error>

#include "core/text.hpp"

namespace troupe::node {

result<void> check_is_brought(const std::string& key,
                              const std::filesystem::path& path) {
  std::error_code why;
  // What is there and cannot be looked at is for whoever reads it.
  if (std::filesystem::exists(path, why) || why)
    return {};
  return fail(errc::invalid_data,
              key + " = " + in_quotes(path.string())
                + ": there is nothing there; ./dev data language brings what "
                  "the examples learn from into build/language, the example "
                  "pretrain.toml says how its models/small is made, and "
                  "another path would do");
}

} // namespace troupe::node
