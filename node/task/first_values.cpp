#include "node/task/first_values.hpp"

#include <algorithm>
#include <string>

#include "core/random.hpp"
#include "core/text.hpp"
#include "models/adapters/adapted_task.hpp"
#include "models/adapters/factor_halves.hpp"
#include "models/families.hpp"
#include "models/safetensors.hpp"
#include "node/task/result_file.hpp"

namespace troupe::node {

namespace {

bool holds(const models::tensor_file& file, const models::tensor_spec& x) {
  return std::ranges::find(file.tensors, x.name, &models::tensor_spec::name)
         != file.tensors.end();
}

/// A file's values for a block; null if it says nothing about the family.
result<shared_values> from_tensors(const models::tensor_file& file,
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

bool begins_as_common(const recipe& method, const options& said) {
  const auto all = with_defaults(method, said);
  const auto found = all.find("from_common");
  return found != all.end() && found->second != 0;
}

/// No values of a family that the common model has not.
shared_values value_of(const beside_model& x, std::string_view family) {
  const auto found = x.common_values.find(std::string{family});
  return found == x.common_values.end() ? share(std::vector<float>{})
                                        : found->second;
}

/// A file's values for the model that nobody trains, where it has them.
result<void> init_frozen(const experiment& x, const models::objective& model,
                         std::map<std::string, shared_values>& frozen) {
  if (frozen.empty() || x.init.empty())
    return {};
  const auto file = read_result(x.init);
  if (!file)
    return tl::make_unexpected(file.error());
  for (auto& [name, values] : frozen) {
    models::block_layout block;
    block.name = block.family = name;
    block.tensors = model.parameter_list();
    if (std::ranges::none_of(block.tensors,
                             [&](const auto& y) { return holds(*file, y); }))
      continue; // What nobody trains is in no run's folder.
    auto found = from_tensors(*file, block, x.init);
    if (!found)
      return tl::make_unexpected(found.error());
    values = std::move(*found);
  }
  return {};
}

} // namespace

result<std::map<block_id, shared_values>>
first_values(const experiment& x, const recipe& method,
             models::objective& model, const models::layout& blocks,
             const beside_model& beside) {
  const auto seed = derive_seed(x.seed, "initial");
  const auto fresh =
    models::initial_values(model, blocks, seed, beside.adapters, beside.gate,
                           beside.inside ? &*beside.inside : nullptr);
  std::map<block_id, shared_values> values;
  for (const auto& block : blocks.blocks)
    values[block.id] = block.family == models::model_family
                         ? scaled(fresh.at(block.name), x.model.init_scale)
                         : fresh.at(block.name);
  if (begins_as_common(method, x.training.method) && beside.common)
    if (auto ok = models::begin_as_common(
          method, x.training.method, blocks, model, *beside.common,
          value_of(beside, models::common_family),
          value_of(beside, models::common_buffers_family), seed, values);
        !ok)
      return tl::make_unexpected(ok.error());
  if (x.init.empty())
    return values;
  const auto file = read_result(x.init);
  if (!file)
    return tl::make_unexpected(file.error());
  if (auto ok = check_instances(*file, blocks, x.init); !ok)
    return tl::make_unexpected(ok.error());
  for (const auto& block : blocks.blocks) {
    auto found = from_tensors(*file, block, x.init);
    if (!found)
      return tl::make_unexpected(found.error());
    if (*found)
      values[block.id] = std::move(*found);
  }
  return values;
}

result<void> complete(const experiment& x, models::objective& model,
                      const beside_model& beside, models::local_task& task) {
  if (beside.inside) {
    task.own_adapters = beside.inside->own_adapter;
  } else {
    auto own = models::own_adapters_for(task.method, model, x.training.method,
                                        x.model.adapt, x.places);
    if (!own)
      return tl::make_unexpected(own.error());
    task.own_adapters = std::move(*own);
  }
  task.frozen =
    models::frozen_values(model, task.method, derive_seed(x.seed, "initial"));
  if (auto ok = init_frozen(x, model, task.frozen); !ok)
    return ok;
  task.frozen.merge(models::frozen_factors(task.method, task.adapters,
                                           derive_seed(x.seed, "initial")));
  for (const auto& family : task.method.blocks)
    if (const auto found = beside.common_values.find(family.name);
        family.where == scope::frozen && found != beside.common_values.end())
      task.frozen[family.name] = found->second;
  models::set_content(task.blocks, task.frozen);
  return {};
}

} // namespace troupe::node
