#include "node/commands/export.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <ostream>
#include <utility>

#include "core/json.hpp"
#include "core/text.hpp"
#include "kernels/backend.hpp"
#include "models/families.hpp"
#include "models/files.hpp"
#include "models/safetensors.hpp"
#include "models/shapes.hpp"
#include "node/commands/block_words.hpp"
#include "node/commands/command_line.hpp"
#include "node/commands/export_blocks.hpp"
#include "node/commands/export_language.hpp"
#include "node/commands/put_files.hpp"
#include "node/config/config.hpp"
#include "node/config/no_run.hpp"
#include "node/task/common_values.hpp"
#include "node/task/inputs.hpp"
#include "node/task/language.hpp"
#include "node/task/result_file.hpp"

namespace troupe::node {

namespace {

using models::tensor_file;

constexpr double sum_tolerance = 1e-6;

/// Tensors of one block of a run's file, and their values.
struct block_of_file {
  std::string name; ///< Empty: the model, or its buffers.
  models::tensor_list tensors;
  std::vector<float> values;
};

std::vector<block_of_file> blocks_of(const tensor_file& file) {
  std::vector<block_of_file> result;
  std::size_t at = 0;
  for (auto tensor : file.tensors) {
    const auto slash = tensor.name.rfind('/');
    const auto name =
      slash == std::string::npos ? "" : tensor.name.substr(0, slash);
    if (slash != std::string::npos)
      tensor.name = tensor.name.substr(slash + 1);
    if (result.empty() || result.back().name != name)
      result.push_back({name, {}, {}});
    const auto size = tensor.size();
    const auto from = file.values.begin() + static_cast<std::ptrdiff_t>(at);
    auto& to = result.back();
    to.values.insert(to.values.end(), from,
                     from + static_cast<std::ptrdiff_t>(size));
    to.tensors.push_back(std::move(tensor));
    at += size;
  }
  return result;
}

std::string shown_name(const block_of_file& x) {
  return x.name.empty() ? std::string{models::model_family} : x.name;
}

std::vector<std::string> names_of(const std::vector<block_of_file>& blocks) {
  std::vector<std::string> all;
  for (const auto& x : blocks)
    if (auto name = shown_name(x); std::ranges::find(all, name) == all.end())
      all.push_back(std::move(name));
  return all;
}

bool is_adapter(const block_of_file& x) {
  return is_block_of(models::adapter_family, x.name);
}

result<std::vector<double>> shares_for(std::vector<double> asked,
                                       std::size_t count) {
  if (asked.empty())
    return std::vector<double>(count, 1.0 / static_cast<double>(count));
  const auto sum = std::accumulate(asked.begin(), asked.end(), 0.0);
  const bool fits =
    asked.size() == count && std::abs(sum - 1) <= sum_tolerance
    && std::ranges::all_of(asked, [](double x) { return x >= 0; });
  if (!fits)
    return fail(errc::invalid_argument,
                "--mixture: there are " + std::to_string(count)
                  + " adapters; as many shares, from 0 on, that add up to 1 "
                    "would do");
  return asked;
}

/// The run's blocks with the adapters merged into the model.
result<tensor_file> merged(const experiment& x, const recipe& method,
                           const std::vector<block_of_file>& blocks,
                           const std::vector<double>& mixture) {
  std::vector<std::span<const float>> adapters;
  for (const auto& y : blocks)
    if (is_adapter(y))
      adapters.emplace_back(y.values);
  if (adapters.empty() || !blocks.front().name.empty())
    return fail(errc::invalid_argument,
                "method '" + x.method
                  + "' has no shared model with adapters, so there is nothing "
                    "to merge; "
                  + some_block_of(names_of(blocks)));
  auto shares = shares_for(mixture, adapters.size());
  if (!shares)
    return tl::unexpected{shares.error()};
  const auto said = with_defaults(method, x.training.method);
  // As clients use them.
  if (const auto floor = said.find("share_floor"); floor != said.end())
    for (auto& share : *shares)
      share = std::max(share, floor->second);
  const auto& base = blocks.front();
  const auto plan =
    models::adapters_for(method, base.tensors, said, x.model.adapt);
  if (!plan)
    return tl::unexpected{plan.error()};
  for (const auto& y : adapters)
    if (y.size() != (*plan)->size())
      return fail(errc::invalid_data,
                  "model.safetensors and config.toml do not belong together: "
                  "an adapter has "
                    + std::to_string(y.size()) + " values, and "
                    + std::to_string((*plan)->size()) + " are expected");
  const auto arithmetic = kernels::make_backend({});
  if (!arithmetic)
    return tl::unexpected{arithmetic.error()};
  tensor_file out{base.tensors, std::vector<float>(base.values.size()), {}};
  models::adapter_mixture mix{**plan, **arithmetic};
  if (auto done = mix.compose(base.values, adapters, *shares, out.values);
      !done)
    return tl::unexpected{done.error()};
  for (std::size_t i = 1; i < blocks.size(); ++i)
    if (blocks[i].name.empty()) { // Buffers.
      out.tensors.insert(out.tensors.end(), blocks[i].tensors.begin(),
                         blocks[i].tensors.end());
      out.values.insert(out.values.end(), blocks[i].values.begin(),
                        blocks[i].values.end());
    }
  return out;
}

/// The same of an adapter over a language model, whose weights no run's file
/// has.
result<tensor_file> merged_over_base(const experiment& x,
                                     const std::vector<block_of_file>& blocks,
                                     const std::vector<double>& mixture) {
  const auto found =
    std::ranges::find(blocks, models::adapter_family, &block_of_file::name);
  const auto beside =
    std::ranges::find(blocks, models::attention_family, &block_of_file::name);
  if (!has_frozen_model(x) || found == blocks.end())
    return fail(errc::invalid_argument,
                "method '" + x.method
                  + "' has no one adapter that all share beside its base, so "
                    "there is nothing to merge; "
                  + some_block_of(names_of(blocks)));
  if (const auto shares = shares_for(mixture, 1); !shares)
    return tl::unexpected{shares.error()};
  common_factors common{.adapter = found->values};
  if (beside != blocks.end())
    common.attention = beside->values;
  auto done = merged_language(x, common);
  const auto names = names_of(blocks);
  if (!done && !merges(x, names))
    return fail(done.error().code,
                done.error().context + "; " + some_block_of(names));
  return done;
}

result<tensor_file> merged_of_run(const std::string& folder,
                                  const std::vector<double>& mixture) {
  const auto config = load_config(folder + "/config.toml");
  if (!config)
    return tl::unexpected{config.error()};
  const auto file = result_of_run(folder);
  if (!file)
    return tl::unexpected{file.error()};
  if (config->x.model.is_language())
    return merged_over_base(config->x, blocks_of(*file), mixture);
  const auto* method = all_methods().find(config->x.method);
  return merged(config->x, *method, blocks_of(*file), mixture);
}

/// One block, its tensors named as in a model. The common model, which no
/// version has, is in a file of its own.
result<tensor_file> block_of_run(const std::string& folder,
                                 const std::string& block) {
  const bool is_common = block == models::common_family;
  const auto file =
    is_common ? read_common(folder + '/' + common_file) : result_of_run(folder);
  if (!file)
    return tl::unexpected{file.error()};
  tensor_file out;
  for (auto& x : blocks_of(*file)) {
    if (shown_name(x) != block)
      continue;
    std::ranges::move(x.tensors, std::back_inserter(out.tensors));
    out.values.insert(out.values.end(), x.values.begin(), x.values.end());
  }
  if (out.tensors.empty())
    return fail(errc::invalid_argument, no_block(folder, block));
  if (const auto config = load_config(folder + "/config.toml"))
    out.metadata = words_of_block(config->x, folder, out.tensors);
  return out;
}

struct export_wishes {
  std::string folder;
  std::string to;
  bool merge = false;
  std::string block;
  std::vector<double> mixture;

  /// And not a part of one, or what stands beside it.
  bool is_of_a_model() const {
    return merge || is_block_of(models::model_family, block);
  }

  void add_to(command_line& line) {
    line.add("RUN", &folder, "a run's folder", {.required = true});
    line.add("--to", &to,
             "the file to write; of a language model the folder, with its "
             "config.json and its tokenizer",
             {.required = true});
    line.add("--merged", &merge,
             "the base and its adapters as weights of the model alone");
    line.add(
      "--block", &block,
      "one block alone, under the names that a model has: as in model.3, "
      "or common, which nobody trains",
      {.excludes = {"--merged"}, .not_empty = true});
    line.add("--mixture", &mixture,
             "the share of each adapter; even ones without it",
             {.excludes = {"--block"}, .delimiter = ','});
  }
};

/// A language model is a folder, as others read it; whatever else is a file.
result<void> put(const export_wishes& wish, const tensor_file& what) {
  if (wish.is_of_a_model()) {
    const auto config = load_config(wish.folder + "/config.toml");
    if (config && config->x.model.is_language())
      return put_language(config->x, what, wish.to);
  }
  return put_file(wish.to, what);
}

/// What stands beside a base, or is as large as it, means nothing with another.
result<void> check_origin(const export_wishes& wish) {
  if (!wish.is_of_a_model())
    return {};
  const auto config = load_config(wish.folder + "/config.toml");
  const bool is_language = config && config->x.model.is_language();
  return is_language ? check_models(wish.folder, config->x) : result<void>{};
}

} // namespace

exit_code export_command(arguments args, streams io) {
  command_line line{{"export",
                     "Writes a run's model for use elsewhere, as safetensors.",
                     "export runs/20261121-113226-rotation --merged --mixture "
                     "1,0,0,0 --to one.safetensors"}};
  export_wishes wish;
  wish.add_to(line);
  if (const auto end = line.parse(args, io))
    return *end;
  if (!models::is_there(wish.folder + "/config.toml"))
    return report(error{errc::invalid_data, no_run_in(wish.folder)},
                  line.json(), io);
  if (!wish.merge && wish.block.empty())
    return report(nothing_to_write(wish.folder), exit_code::usage, line.json(),
                  io);
  const auto out = check_origin(wish).and_then([&] {
    return wish.merge ? merged_of_run(wish.folder, wish.mixture)
                      : block_of_run(wish.folder, wish.block);
  });
  if (!out)
    return report(out.error(), line.json(), io);
  if (auto done = put(wish, *out); !done)
    return report(done.error(), line.json(), io);
  if (line.json())
    io.out << json{{"success", true},
                   {"file", wish.to},
                   {"values", out->values.size()}}
                .dump(2)
           << std::endl;
  else
    io.out << wish.to << ": " << out->values.size() << " values, "
           << (wish.merge ? "merged" : "of " + printable(wish.block))
           << std::endl;
  return exit_code::ok;
}

} // namespace troupe::node
