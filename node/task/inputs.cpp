#include "node/task/inputs.hpp"

#include <array>
#include <map>
#include <span>
#include <sstream>
#include <tuple>
#include <utility>

#include "core/hex.hpp"
#include "core/text.hpp"
#include "models/file_digest.hpp"
#include "models/files.hpp"
#include "node/task/kept_common.hpp"
#include "node/task/model_file.hpp"

namespace troupe::node {

namespace fs = std::filesystem;

namespace {

using digests_said = std::map<std::string, std::string>;

/// What models are made of first: of another tokenizer all texts are others.
result<std::vector<known_file>> inputs_of(const experiment& x,
                                          const workload& work) {
  auto all = parts_of_models(x);
  if (!all)
    return all;
  if (!x.init.empty()) {
    const auto content = models::digest_of_file(x.init, errc::invalid_data);
    if (!content)
      return tl::make_unexpected(content.error());
    all->push_back({"init", x.init, *content});
  }
  if (work.data_digest && !x.data.is_made())
    all->push_back({"data", x.data.path, work.data_digest()});
  return all;
}

result<digests_said> read_inputs(const fs::path& folder) {
  const auto path = folder / inputs_file;
  digests_said said;
  if (!models::is_there(path))
    return said;
  const auto text = models::read_text(path, errc::invalid_data);
  if (!text)
    return tl::make_unexpected(text.error());
  std::istringstream lines{*text};
  for (std::string line; std::getline(lines, line);) {
    const auto space = line.find(' ');
    const auto digest =
      space == std::string::npos ? "" : line.substr(space + 1);
    if (!from_hex<std::tuple_size_v<models::digest>>(digest))
      return fail(errc::invalid_data,
                  path.string() + " is damaged: it says "
                    + in_quotes(shortened(line))
                    + ", and a line of it has a name and 64 hex digits; a copy "
                      "of it as it was would do");
    said[line.substr(0, space)] = digest;
  }
  return said;
}

/// What nobody said anything of is taken as it is.
result<void> compare(const digests_said& said,
                     const std::vector<known_file>& found) {
  for (const auto& x : found) {
    const auto was = said.find(x.name);
    const auto now = models::to_hex(x.content);
    if (was != said.end() && was->second != now)
      return fail(errc::invalid_data,
                  x.path + " is not the " + in_quotes(x.name)
                    + " that the run began with: its digest is "
                    + short_digest(now) + ", and " + inputs_file + " says "
                    + short_digest(was->second)
                    + "; a copy of it as it was would do");
  }
  return {};
}

result<void> check(const fs::path& folder,
                   const result<std::vector<known_file>>& found) {
  if (!found)
    return tl::make_unexpected(found.error());
  return read_inputs(folder).and_then(
    [&](const digests_said& said) { return compare(said, *found); });
}

} // namespace

result<void> hold_inputs(const fs::path& folder, const experiment& x,
                         const workload& work) {
  const auto found = inputs_of(x, work);
  if (auto ok = check(folder, found); !ok)
    return ok;
  if (auto ok = keep_common(folder, work); !ok)
    return ok;
  if (found->empty() || models::is_there(folder / inputs_file))
    return {};
  std::string text;
  for (const auto& y : *found)
    text += y.name + ' ' + models::to_hex(y.content) + '\n';
  const std::array parts{std::as_bytes(std::span{text})};
  return models::replace_file(folder / inputs_file, parts, {});
}

result<void> check_inputs(const fs::path& folder, const experiment& x,
                          const workload& work) {
  return check(folder, inputs_of(x, work));
}

result<void> check_models(const fs::path& folder, const experiment& x) {
  return check(folder, parts_of_models(x));
}

result<void> check_inputs_file(const fs::path& folder) {
  return read_inputs(folder).map([](const auto&) {});
}

} // namespace troupe::node
