#include "node/commands/block_words.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/json.hpp"
#include "models/files.hpp"
#include "node/config/config.hpp"

namespace troupe::node {

namespace {

/// Of a layer's tensor of either factor; empty: it is neither.
std::string layer_of_factor(const std::string& name) {
  const bool is_factor = name.ends_with(".u") || name.ends_with(".v");
  return is_factor ? name.substr(0, name.size() - 2) : "";
}

double option_of(const options& all, const std::string& name) {
  const auto found = all.find(name);
  return found == all.end() ? 0 : found->second;
}

/// As `plan_adapters` has it: of a language model each layer's own rank, and
/// elsewhere the one that is said, whatever a kernel's factors have.
double scale_of(const models::tensor_spec& factor, const options& all,
                bool own_ranks) {
  const auto alpha = option_of(all, "alpha");
  if (alpha == 0)
    return 1;
  const auto said = option_of(all, "rank");
  const auto own = static_cast<double>(factor.shape.front());
  const auto rank = own_ranks || said == 0 ? own : said;
  return alpha / (option_of(all, "alpha_over") != 0 ? std::sqrt(rank) : rank);
}

std::map<std::string, std::string> scales_in(const experiment& x,
                                             const models::tensor_list& block) {
  const auto* method = all_methods().find(x.method);
  std::map<std::string, std::string> scales;
  if (method == nullptr)
    return scales;
  const auto all = with_defaults(*method, x.training.method);
  for (const auto& y : block)
    if (const auto layer = layer_of_factor(y.name); !layer.empty())
      scales["scale." + layer] =
        json(scale_of(y, all, x.model.is_language())).dump();
  const bool are_one = std::ranges::all_of(
    scales, [&](const auto& y) { return y.second == scales.begin()->second; });
  if (scales.empty() || !are_one)
    return scales;
  return {{"scale", scales.begin()->second}};
}

} // namespace

std::map<std::string, std::string>
words_of_block(const experiment& x, const std::filesystem::path& folder,
               const models::tensor_list& block) {
  auto words = scales_in(x, block);
  if (std::ranges::find(block, "head.weight", &models::tensor_spec::name)
      == block.end())
    return words;
  const auto text =
    models::read_text(folder / "summary.json", errc::invalid_data);
  const auto ended = json::parse(text.value_or(std::string{}));
  const auto* labels = ended ? ended->find("labels") : nullptr;
  if (labels && labels->items())
    words["labels"] = labels->dump();
  return words;
}

} // namespace troupe::node
