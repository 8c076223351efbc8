#include "node/task/language_files.hpp"

#include <system_error>

#include "core/text.hpp"

namespace troupe::node {

namespace {

/// Whether a folder `build/language` is on the way to it, as in the examples.
bool is_of_examples(const std::filesystem::path& path) {
  std::filesystem::path before;
  for (const auto& name : path.lexically_normal()) {
    if (before == "build" && name == "language")
      return true;
    before = name;
  }
  return false;
}

} // namespace

result<void> check_is_brought(const std::string& key,
                              const std::filesystem::path& path) {
  std::error_code why;
  // What is there and cannot be looked at is for whoever reads it.
  if (std::filesystem::exists(path, why) || why)
    return {};
  const auto missing =
    key + " = " + in_quotes(path.string()) + ": there is nothing there; ";
  if (!is_of_examples(path))
    return fail(errc::invalid_data, missing + "another path would do");
  return fail(errc::invalid_data,
              missing
                + "./dev data language brings what the examples learn from "
                  "into build/language, the example pretrain.toml says how its "
                  "models/small is made, and another path would do");
}

} // namespace troupe::node
