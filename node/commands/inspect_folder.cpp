#include "node/commands/inspect_folder.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <system_error>
#include <vector>

#include "core/text.hpp"
#include "models/language/weight_files.hpp"

namespace troupe::node {

namespace {

namespace fs = std::filesystem;

/// Of all that lies in it, by name.
std::vector<fs::path> all_in(const fs::path& folder, std::error_code& why) {
  std::vector<fs::path> all;
  fs::directory_iterator at{folder, why};
  for (; !why && at != fs::directory_iterator{}; at.increment(why))
    all.push_back(at->path());
  std::ranges::sort(all);
  return all;
}

std::string names_shown(const std::vector<fs::path>& all) {
  constexpr std::size_t listed_max = 5;
  if (all.empty())
    return "it is empty";
  std::string out = "it has ";
  const auto shown = std::min(listed_max, all.size());
  for (std::size_t i = 0; i < shown; ++i)
    out +=
      (i > 0 ? ", " : "") + in_quotes(shortened(all[i].filename().string()));
  return all.size() > shown
           ? out + " and " + std::to_string(all.size() - shown) + " more"
           : out;
}

bool can_be_inspected(const fs::path& x) {
  return x.extension() == ".toml" || models::names_a_model(x);
}

} // namespace

failure unknown_folder(const fs::path& folder) {
  std::error_code why;
  const auto all = all_in(folder, why);
  const auto first = std::ranges::find_if(all, can_be_inspected);
  const std::string others =
    "a model is a folder with config.json, a .safetensors file or a .gguf; of "
    "texts and other data a configuration in TOML, whose data.path may be this "
    "folder, would do";
  return {.code = "invalid_data",
          .what = "this folder is no model: " + folder.string()
                  + " has no config.json",
          .why =
            why ? "it cannot be listed: " + why.message() : names_shown(all),
          .hint = first == all.end()
                    ? others
                    : "troupe data inspect " + first->string() + " would do"};
}

} // namespace troupe::node
