#include "node/task/digests_said.hpp"

#include <array>
#include <span>
#include <sstream>
#include <system_error>
#include <tuple>

#include "core/hex.hpp"
#include "core/text.hpp"
#include "models/files.hpp"

namespace troupe::node {

namespace fs = std::filesystem;

namespace {

tl::unexpected<error> damaged(const fs::path& path, const std::string& line) {
  return fail(errc::invalid_data,
              path.string() + " is damaged: it says "
                + (line.empty() ? "nothing" : in_quotes(shortened(line)))
                + ", and a line of it has a name and 64 hex digits; a copy of "
                  "it as it was would do");
}

} // namespace

result<digests_said> read_digests(const fs::path& path,
                                  const std::string& only) {
  digests_said said;
  std::error_code ignored; // A link to nothing is damage.
  if (fs::symlink_status(path, ignored).type() == fs::file_type::not_found)
    return said;
  const auto text = models::read_text(path, errc::invalid_data);
  if (!text)
    return tl::make_unexpected(text.error());
  std::istringstream lines{*text};
  for (std::string line; std::getline(lines, line);) {
    const auto space = line.find(' ');
    const bool is_alone = space == std::string::npos;
    const auto name = is_alone ? only : line.substr(0, space);
    const auto digest = is_alone ? line : line.substr(space + 1);
    const bool is_known = only.empty() ? !name.empty() : name == only;
    if (!is_known || !from_hex<std::tuple_size_v<models::digest>>(digest))
      return damaged(path, line);
    said[name] = digest;
  }
  if (said.empty())
    return damaged(path, {});
  return said;
}

result<void> write_digests(const fs::path& path,
                           const std::vector<known_file>& all) {
  std::string text;
  for (const auto& x : all)
    text += x.name + ' ' + models::to_hex(x.content) + '\n';
  const std::array parts{std::as_bytes(std::span{text})};
  return models::replace_file(path, parts, {});
}

result<void> check_digest(const digest_held& x) {
  if (x.found == x.said)
    return {};
  return fail(errc::invalid_data,
              x.what + ": " + x.whose + " is " + short_digest(x.found)
                + ", and " + x.by + " says " + short_digest(x.said)
                + "; a copy of " + x.copy_of + " as it was would do");
}

} // namespace troupe::node
