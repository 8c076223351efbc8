#include "node/task/first_values.hpp"

#include <algorithm>
#include <string>

#include "core/random.hpp"
#include "core/text.hpp"
#include "models/adapters/adapted_task.hpp"
#include "models/families.hpp"
#include "models/safetensors.hpp"

namespace troupe::node {

namespace {

bool holds(const models::tensor_file& file, const models::tensor_spec& x) {
  return std::ranges::find(file.tensors, x.name, &models::tensor_spec::name)
         != file.tensors.end();
}

/// A file's values for a block; null if it says nothing about the family.
result<shared_values> from_file(const models::tensor_file& file,
                                const models::block_layout& block,
                                const std::string& path) {
  const auto is_there = [&](const auto& x) { return holds(file, x); };
  auto own = block.tensors;
  for (auto& x : own)
    x.name = block.name + "/" + x.name;
  const bool is_model = block.family == models::model_family;
  const bool as_plain = block.family == models::buffers_family
                        && std::ranges::any_of(block.tensors, is_there);
  const bool knows_family =
    std::ranges::any_of(file.tensors, [&](const models::tensor_spec& x) {
      return x.name.starts_with(block.family + "/")
             || x.name.starts_with(block.family + ".");
    });
  if (!is_model && !as_plain && !knows_family)
    return shared_values{};
  // One model of several: its own, if the file has it; else they all begin as
  // the one that is there.
  const bool plain =
    as_plain || (is_model && !std::ranges::all_of(own, is_there));
  auto values = models::values_of(file, plain ? block.tensors : own, path);
  if (!values)
    return tl::make_unexpected(values.error());
  return share(std::move(*values));
}

/// Refuses a file that has more instances of a family than the run has.
result<void> check_instances(const models::tensor_file& file,
                             const models::layout& blocks,
                             const std::string& path) {
  for (const auto& x : file.tensors) {
    const auto name = x.name.substr(0, x.name.find('/'));
    const auto family = name.substr(0, name.find('.'));
    if (name == x.name || blocks.find(name) || blocks.family(family).empty())
      continue;
    return fail(errc::invalid_config,
                path + ": has " + in_quotes(name) + ", and of "
                  + in_quotes(family) + " this run has "
                  + std::to_string(blocks.family(family).size())
                  + "; a file of as many would do");
  }
  return {};
}

shared_values scaled(const shared_values& x, double factor) {
  if (factor == 1)
    return x;
  auto result = x.copy();
  for (auto& value : result)
    value = static_cast<float>(value * factor);
  return share(std::move(result));
}

} // namespace

result<std::map<block_id, shared_values>>
first_values(const experiment& x, models::objective& model,
             const models::layout& blocks,
             const std::optional<models::adapter_plan>& adapters) {
  const auto fresh = models::initial_values(
    model, blocks, derive_seed(x.seed, "initial"), adapters);
  std::map<block_id, shared_values> values;
  for (const auto& block : blocks.blocks)
    values[block.id] = block.family == models::model_family
                         ? scaled(fresh.at(block.name), x.model.init_scale)
                         : fresh.at(block.name);
  if (x.init.empty())
    return values;
  const auto file = models::read_safetensors(x.init);
  if (!file)
    return tl::make_unexpected(file.error());
  if (auto ok = check_instances(*file, blocks, x.init); !ok)
    return tl::make_unexpected(ok.error());
  for (const auto& block : blocks.blocks) {
    auto found = from_file(*file, block, x.init);
    if (!found)
      return tl::make_unexpected(found.error());
    if (*found)
      values[block.id] = std::move(*found);
  }
  return values;
}

result<void> complete(const experiment& x, models::objective& model,
                      models::local_task& task) {
  auto own = models::own_adapters_for(task.method, model, x.training.method,
                                      x.model.adapt);
  if (!own)
    return tl::make_unexpected(own.error());
  task.own_adapters = std::move(*own);
  task.frozen =
    models::frozen_values(model, task.method, derive_seed(x.seed, "initial"));
  if (task.frozen.empty() || x.init.empty())
    return {};
  const auto file = models::read_safetensors(x.init);
  if (!file)
    return tl::make_unexpected(file.error());
  for (auto& [name, values] : task.frozen) {
    models::block_layout block;
    block.name = block.family = name;
    block.tensors = model.parameter_list();
    if (std::ranges::none_of(block.tensors,
                             [&](const auto& y) { return holds(*file, y); }))
      continue; // What nobody trains is in no run's folder.
    auto found = from_file(*file, block, x.init);
    if (!found)
      return tl::make_unexpected(found.error());
    values = std::move(*found);
  }
  return {};
}

} // namespace troupe::node
