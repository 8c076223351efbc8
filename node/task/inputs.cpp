#include "node/task/inputs.hpp"

#include "core/text.hpp"
#include "models/file_digest.hpp"
#include "models/files.hpp"
#include "node/task/digests_said.hpp"
#include "node/task/kept_common.hpp"
#include "node/task/model_file.hpp"

namespace troupe::node {

namespace fs = std::filesystem;

namespace {

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

/// Whether a digest is of what the configuration makes of a file, and not of
/// its bytes: how many of its texts, say, or how its weights are kept.
bool is_of_settings(const std::string& name) {
  return name == "data" || name == "base" || name == "common_model";
}

/// What nobody said anything of is taken as it is.
result<void> compare(const digests_said& said,
                     const std::vector<known_file>& found) {
  for (const auto& x : found) {
    const auto was = said.find(x.name);
    if (was == said.end())
      continue;
    if (auto ok = check_digest(
          {.what = x.path + " is not the " + in_quotes(x.name)
                   + " that the run began with",
           .found = models::to_hex(x.content),
           .said = was->second,
           .by = inputs_file,
           .copy_of = is_of_settings(x.name) ? "it, or of config.toml, which "
                                               "says what of it is taken,"
                                             : "it"});
        !ok)
      return ok;
  }
  return {};
}

result<void> check(const fs::path& folder,
                   const result<std::vector<known_file>>& found) {
  if (!found)
    return tl::make_unexpected(found.error());
  return read_digests(folder / inputs_file)
    .and_then([&](const digests_said& said) { return compare(said, *found); });
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
  return write_digests(folder / inputs_file, *found);
}

result<void> check_inputs(const fs::path& folder, const experiment& x,
                          const workload& work) {
  return check(folder, inputs_of(x, work));
}

result<void> check_models(const fs::path& folder, const experiment& x) {
  return check(folder, parts_of_models(x));
}

result<void> check_inputs_file(const fs::path& folder) {
  return read_digests(folder / inputs_file).map([](const auto&) {});
}

} // namespace troupe::node
