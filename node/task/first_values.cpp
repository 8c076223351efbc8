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

bool holds_some(const models::tensor_file& file,
                const models::tensor_list& xs) {
  return std::ranges::any_of(xs, [&](const auto& x) { return holds(file, x); });
}

bool is_model(const models::block_layout& block) {
  return block.family == models::model_family;
}

/// Of a model's statistics, which a plain model's file has beside its weights.
bool has_as_plain(const models::tensor_file& file,
                  const models::block_layout& block) {
  return block.family == models::buffers_family
         && holds_some(file, block.tensors);
}

/// Whether a file says something about the family. That of a model has to.
bool is_of_use(const models::tensor_file& file,
               const models::block_layout& block) {
  const auto is_of_family = [&](const models::tensor_spec& x) {
    return x.name.starts_with(block.family + "/")
           || x.name.starts_with(block.family + ".");
  };
  return is_model(block) || has_as_plain(file, block)
         || std::ranges::any_of(file.tensors, is_of_family);
}

/// A file's values for a block; null if it says nothing about the family.
result<shared_values> from_tensors(const models::tensor_file& file,
                                   const models::block_layout& block,
                                   const std::string& path) {
  if (!is_of_use(file, block))
    return shared_values{};
  const auto is_there = [&](const auto& x) { return holds(file, x); };
  auto own = block.tensors;
  for (auto& x : own)
    x.name = block.name + "/" + x.name;
  // One model of several: its own, if the file has it; else they all begin as
  // the one that is there.
  const bool plain =
    has_as_plain(file, block)
    || (is_model(block) && !std::ranges::all_of(own, is_there));
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

/// What of a file a run takes, in words.
std::string taken_of_files(const models::local_task& task,
                           const models::tensor_list& model) {
  std::string text;
  for (const auto& block : task.blocks.blocks)
    if (block.instance == 0)
      text += (text.empty() ? "what begins with " : " or ")
              + in_quotes(block.name + "/");
  if (!task.frozen.empty() && !model.empty())
    text += (text.empty() ? "" : ", and ")
            + std::string{"the model's tensors, as "}
            + in_quotes(shortened(model.front().name));
  return text.empty() ? "nothing" : text;
}

/// Who says a file means something in it.
result<void> check_is_of_use(const experiment& x,
                             const models::tensor_file& file,
                             models::objective& model,
                             const models::local_task& task) {
  const auto& tensors = model.parameter_list();
  const auto takes = [&](const auto& block) { return is_of_use(file, block); };
  if (std::ranges::any_of(task.blocks.blocks, takes)
      || (!task.frozen.empty() && holds_some(file, tensors)))
    return {};
  const auto found =
    file.tensors.empty()
      ? std::string{"it has no tensors"}
      : "its first tensor is " + in_quotes(shortened(file.tensors[0].name));
  return fail(errc::invalid_config,
              x.init + ": has nothing that this run takes: " + found
                + ", and taken would be " + taken_of_files(task, tensors)
                + "; the model.safetensors of a run of method '" + x.method
                + "' would do"
                + (model.inside() != nullptr
                     ? ", and for the weights of the language model that "
                       "nobody trains 'model.path'"
                     : ""));
}

/// A file's values for the model that nobody trains, where it has them. Returns
/// `invalid_config` if nothing of it is of use, for blocks that travel neither.
result<void> init_frozen(const experiment& x, models::objective& model,
                         models::local_task& task) {
  // For a model that travels a file has values, or was refused.
  if (x.init.empty()
      || (task.frozen.empty()
          && std::ranges::any_of(task.blocks.blocks, is_model)))
    return {};
  const auto file = read_result(x.init);
  if (!file)
    return tl::make_unexpected(file.error());
  if (auto ok = check_is_of_use(x, *file, model, task); !ok)
    return ok;
  for (auto& [name, values] : task.frozen) {
    models::block_layout block;
    block.name = block.family = name;
    block.tensors = model.parameter_list();
    if (!holds_some(*file, block.tensors))
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
  if (auto ok = init_frozen(x, model, task); !ok)
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
