#include "models/shapes.hpp"

#include <algorithm>
#include <cmath>

#include "core/random.hpp"
#include "models/families.hpp"
#include "models/methods/split_model.hpp"

namespace troupe::models {

bool has_adapters(const recipe& method) {
  return std::ranges::any_of(method.blocks, [](const block_spec& x) {
    return x.name == adapter_family || x.name == own_adapter_family;
  });
}

result<std::optional<adapter_plan>>
adapters_for(const recipe& method, const tensor_list& model,
             const options& said, const std::vector<std::string>& layers) {
  if (!has_adapters(method))
    return std::optional<adapter_plan>{};
  adapter_options how;
  how.layers = layers;
  const auto number = [&](const char* name, double otherwise) {
    const auto found = said.find(name);
    return found == said.end() ? otherwise : found->second;
  };
  const auto kind = number("convolution", 5);
  how.budget = number("budget", how.budget);
  const auto is_whole = [](double x) { return x == std::floor(x); };
  if (!(how.budget > 0) || how.budget > 65'536
      || (how.budget > 1 && !is_whole(how.budget)))
    return fail(errc::invalid_config,
                "option 'budget' is a share above 0, or from 1 on a rank, a "
                "whole number; "
                "found "
                  + std::to_string(how.budget));
  if (!(kind >= 0) || kind > 5 || !is_whole(kind))
    return fail(errc::invalid_config,
                "option 'convolution' is 0 (none), 1 (in), 2 (out), 3 "
                "(balanced), 4 (filter) or 5 (balanced_2d); found "
                  + std::to_string(kind));
  const auto rule = number("rank_rule", 0);
  if (rule != 0 && rule != 1)
    return fail(errc::invalid_config,
                "option 'rank_rule' is 0 (by the kernel's size) or 1 (the "
                "authors' program's); found "
                  + std::to_string(rule));
  how.ranks_of_release = rule == 1;
  how.convolution = static_cast<kernel_split>(static_cast<int>(kind));
  how.bias = number("adapter_bias", 1) != 0;
  how.norm = number("adapter_norm", 0) != 0;
  if (number("outer_random", 0) != 0)
    how.start = factor_start::outer_random;
  const auto normal = number("normal_start", 0);
  if (normal != 0 && normal != 1 && normal != 2)
    return fail(errc::invalid_config,
                "option 'normal_start' is 0, 1 (the inner factor) or 2 (both); "
                "found "
                  + std::to_string(normal));
  if (normal != 0)
    how.start =
      normal == 1 ? factor_start::inner_normal : factor_start::both_normal;
  if (const auto scale = said.find("init_scale"); scale != said.end()) {
    if (!(scale->second > 0 && std::isfinite(scale->second)))
      return fail(errc::invalid_config,
                  "option 'init_scale' is above 0, and bounds a random factor "
                  "after division by the root of its length; found "
                    + std::to_string(scale->second));
    how.start_bound = scale->second * scale->second;
  }
  return plan_adapters(model, how).map([](adapter_plan x) {
    return std::optional{std::move(x)};
  });
}

// Where clients have ranks of their own, nobody need have all of them.
result<void> check_ranks(const recipe& method, const adapter_plan& plan) {
  if (std::ranges::any_of(method.blocks, [](const block_spec& x) {
        return !x.rank_counter.empty();
      }))
    return {};
  for (const auto& m : plan.matrices)
    if (const auto width = std::min(m.rows, m.columns);
        !m.is_kernel && m.rank > width)
      return fail(errc::invalid_config,
                  "an adapter of rank " + std::to_string(m.rank)
                    + " is asked for, and the model has a layer of "
                    + std::to_string(m.rows) + " x " + std::to_string(m.columns)
                    + "; at most " + std::to_string(width)
                    + ", or a share below 1, would do");
  return {};
}

result<void> check_starts(const recipe& method, const layout& blocks,
                          const std::map<block_id, shared_values>& initial) {
  const auto models = blocks.family(model_family);
  const bool learns =
    std::ranges::any_of(method.blocks,
                        [](const auto& x) { return x.name == mixture_family; })
    || std::ranges::any_of(
      method.legs, [](const auto& x) { return !x.choice.value.empty(); });
  for (std::size_t i = 1; learns && i < models.size(); ++i)
    if (*initial.at(models[0]) == *initial.at(models[i]))
      return fail(errc::invalid_config,
                  "all " + std::to_string(models.size()) + " models of method '"
                    + method.name
                    + "' begin with the same values, and equal models never "
                      "part; a kind of model that begins at random, or 'init' "
                      "with values for each, would do");
  return {};
}

result<void> check_body(const recipe& method, const objective& model) {
  const auto& all = model.parameter_list();
  const bool splits = std::ranges::any_of(
    method.blocks, [](const block_spec& x) { return x.name == body_family; });
  if (!splits || (!all.empty() && head_of(all) != all.begin()))
    return {};
  return fail(errc::invalid_config,
              "method '" + method.name
                + "' shares all of a model but its last layer, and this one "
                  "has no other; a hidden layer would do");
}

std::map<std::string, tensor_list>
shapes_of(const objective& model, const std::optional<adapter_plan>& adapters) {
  std::map<std::string, tensor_list> shapes{
    {std::string{model_family}, model.parameter_list()},
    {std::string{buffers_family}, model.buffer_list()},
    {std::string{control_family}, model.parameter_list()}};
  if (adapters)
    shapes[std::string{adapter_family}] = adapters->tensors;
  if (const auto all = model.parameter_list(); !all.empty())
    shapes[std::string{body_family}] = {all.begin(), head_of(all)};
  return shapes;
}

std::map<std::string, shared_values>
initial_values(objective& model, const layout& blocks, std::uint64_t seed,
               const std::optional<adapter_plan>& adapters) {
  std::map<std::string, shared_values> result;
  for (const auto& x : blocks.blocks) {
    if (x.family == model_family)
      result[x.name] = share(model.initial_parameters(
        x.instance == 0 ? seed : derive_seed(seed, "model", x.instance)));
    else if (x.family == buffers_family)
      result[x.name] = share(model.initial_buffers());
    else if (x.family == control_family)
      result[x.name] = share(std::vector<float>(x.size));
    else if (x.family == body_family) {
      auto all = model.initial_parameters(seed);
      all.resize(x.size);
      result[x.name] = share(std::move(all));
    } else if (x.family == adapter_family && adapters)
      result[x.name] = share(
        initial_adapter(*adapters, derive_seed(seed, "adapter", x.instance)));
  }
  return result;
}

} // namespace troupe::models
