#include "node/commands/export_blocks.hpp"

#include <algorithm>
#include <optional>

#include "core/text.hpp"
#include "models/families.hpp"
#include "models/files.hpp"
#include "models/safetensors.hpp"
#include "node/config/config.hpp"
#include "node/task/common_values.hpp"
#include "node/task/language.hpp"
#include "node/task/recipe_of.hpp"

namespace troupe::node {

namespace {

/// The block that a tensor of a run's file is of: "model.3" of
/// "model.3/weight", "model" of what has no other.
std::string block_of_tensor(std::string_view name) {
  const auto slash = name.rfind('/');
  return std::string{slash == name.npos ? models::model_family
                                        : name.substr(0, slash)};
}

bool names_adapter(const std::string& name) {
  return is_block_of(models::adapter_family, name);
}

bool is_among(const std::vector<std::string>& blocks, std::string_view name) {
  return std::ranges::find(blocks, name) != blocks.end();
}

std::string listed_blocks(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& x : names)
    text += (text.empty() ? "" : ", ") + x;
  return shortened(text);
}

/// Whether a family may have such a block: each of several has a number.
bool is_instance(std::string_view name, const block_spec& of) {
  return name == of.name || (of.count > 1 && is_block_of(of.name, name));
}

/// Nothing: the method has no such block, or nobody knows.
std::optional<scope> scope_of(const std::string& folder,
                              const std::string& name) {
  const auto config = load_config(folder + "/config.toml");
  const auto method =
    config.and_then([](const loaded_config& x) { return recipe_of(x.x); });
  if (!method)
    return std::nullopt;
  for (const auto& block : method->blocks)
    if (is_instance(name, block))
      return block.where;
  return std::nullopt;
}

} // namespace

std::vector<std::string> blocks_in(const std::filesystem::path& folder) {
  std::vector<std::string> all;
  const auto file =
    models::safetensors_file::open(folder / "model.safetensors");
  if (!file)
    return all;
  for (const auto& name : file->names())
    if (auto block = block_of_tensor(name); !is_among(all, block))
      all.push_back(std::move(block));
  if (models::is_there(folder / common_file))
    all.emplace_back(models::common_family);
  return all;
}

std::string some_block_of(const std::vector<std::string>& blocks) {
  return "--block NAME would do, of " + listed_blocks(blocks);
}

bool is_block_of(std::string_view family, std::string_view name) {
  if (!name.starts_with(family))
    return false;
  const auto behind = name.substr(family.size());
  return behind.empty()
         || (behind.size() > 1 && behind[0] == '.'
             && behind.find_first_not_of("0123456789", 1) == behind.npos);
}

bool merges(const experiment& x, const std::vector<std::string>& blocks) {
  if (x.model.is_language())
    return has_frozen_model(x) && x.data.foretells_tokens()
           && is_among(blocks, models::adapter_family);
  return is_among(blocks, models::model_family)
         && std::ranges::any_of(blocks, names_adapter);
}

std::string no_block(const std::string& folder, const std::string& asked) {
  const auto where = scope_of(folder, asked);
  const auto others =
    " among what the run learned, which is " + listed_blocks(blocks_in(folder));
  if (where == scope::personal)
    return "--block: " + in_quotes(asked)
           + " belongs to each client and never leaves it, so it is not"
           + others;
  if (where == scope::frozen)
    return "--block: " + in_quotes(asked) + " is what nobody trains, and not"
           + others;
  return "--block: there is no " + in_quotes(asked) + others;
}

std::string run_for_a_model(const std::filesystem::path& path) {
  const bool is_file = path.extension() == ".safetensors";
  const auto folder = is_file ? path.parent_path() : path;
  const auto config = load_config((folder / "config.toml").string());
  if (models::is_there(folder / "config.json") || !config)
    return {};
  const auto place = folder.string();
  const auto begin = place + " is a run, and no language model: ";
  const auto made_by = [&](const std::string& how) {
    return begin + "troupe export " + place + ' ' + how
           + " --to FOLDER makes one of it";
  };
  const auto blocks = blocks_in(folder);
  if (!config->x.model.is_language())
    return begin + "it learned none";
  if (blocks.empty())
    return begin + "it has not ended";
  if (merges(config->x, blocks))
    return made_by("--merged");
  for (const auto& block : blocks)
    if (is_block_of(models::model_family, block))
      return made_by("--block " + block);
  return begin + "what it learned in common, " + listed_blocks(blocks)
         + ", makes none by itself; summary.json says what its models are "
           "worth";
}

failure nothing_to_write(const std::string& folder) {
  failure out{.code = "usage",
              .what = "nothing says what is to be written",
              .hint = "--merged would do, or --block NAME"};
  const auto blocks = blocks_in(folder);
  const auto config = load_config(folder + "/config.toml");
  if (!config || blocks.empty())
    return out;
  out.hint =
    merges(config->x, blocks)
      ? "--merged would do, or --block NAME, of " + listed_blocks(blocks)
      : some_block_of(blocks);
  return out;
}

} // namespace troupe::node
