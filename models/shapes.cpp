#include "models/shapes.hpp"

#include <algorithm>
#include <array>

#include "core/random.hpp"
#include "core/text.hpp"
#include "models/adapters/block_parts.hpp"
#include "models/adapters/factor_halves.hpp"
#include "models/adapters/layer_names.hpp"
#include "models/families.hpp"
#include "models/inner_setup.hpp"
#include "models/methods/split_model.hpp"

namespace troupe::models {

namespace {

/// Of the model as a whole, and not of each of several experts.
bool adapts_whole_models(const recipe& method) {
  return std::ranges::any_of(method.blocks, [](const block_spec& x) {
    return x.name == adapter_family || x.name == own_adapter_family;
  });
}

/// Null: the family has no factors inside a model.
const adapter_plan* plan_of(std::string_view family, const inner_plans* of) {
  const auto of_it = [](const std::optional<adapter_plan>& x) {
    return x ? &*x : nullptr;
  };
  if (of == nullptr)
    return nullptr;
  if (family == generalist_family || family == specialist_family)
    return of_it(of->feed_forward);
  if (family == attention_family)
    return of_it(of->attention);
  if (family == adapter_family)
    return of_it(of->adapter);
  return family == own_adapter_family ? of_it(of->own_adapter) : nullptr;
}

/// The tensor of the model that a matrix is.
std::string_view adapted_tensor(const adapter_plan& plan,
                                const adapted_matrix& m) {
  constexpr std::string_view of_factor = ".u";
  std::size_t at = 0;
  for (const auto& x : plan.tensors) {
    if (at == m.u_at)
      return std::string_view{x.name}.substr(0,
                                             x.name.size() - of_factor.size());
    at += x.size();
  }
  return {};
}

} // namespace

bool has_adapters(const recipe& method) {
  return adapts_whole_models(method) || is_routed(method);
}

bool is_over_base(const recipe& method) {
  const auto model =
    std::ranges::find(method.blocks, model_family, &block_spec::name);
  return model != method.blocks.end() && model->where == scope::frozen;
}

result<std::optional<adapter_plan>>
adapters_for(const recipe& method, const tensor_list& model,
             const options& said, const std::vector<std::string>& layers,
             const std::map<std::string, std::size_t>& other_ranks,
             const key_places& places) {
  if (!adapts_whole_models(method))
    return std::optional<adapter_plan>{};
  const auto all = with_defaults(method, said);
  const auto number = [&](const char* name) {
    const auto found = all.find(name);
    return found == all.end() ? 0 : found->second;
  };
  constexpr std::array starts{factor_start::inner_random,
                              factor_start::inner_normal,
                              factor_start::both_normal};
  adapter_options how{
    .budget = number("budget"),
    .rank = static_cast<std::size_t>(number("rank")),
    .other_ranks = other_ranks,
    .alpha = number("alpha"),
    .alpha_over_root = number("alpha_over") != 0,
    .convolution =
      static_cast<kernel_split>(static_cast<int>(number("convolution"))),
    .bias = number("adapter_bias") != 0,
    .norm = number("adapter_norm") != 0,
    .start = starts.at(static_cast<std::size_t>(number("normal_start"))),
    .ranks_of_release = number("rank_rule") != 0,
    .layers = layers,
    .places = places};
  if (number("outer_random") != 0)
    how.start = factor_start::outer_random;
  if (const auto scale = number("init_scale"); scale > 0)
    how.start_bound = scale * scale;
  return plan_adapters(model, how).map([](adapter_plan x) {
    return std::optional{std::move(x)};
  });
}

result<void> check_widths(const adapter_plan& plan, const rank_keys& keys) {
  const auto width_of = [](const adapted_matrix& m) {
    return std::min(m.rows, m.columns);
  };
  const adapted_matrix* narrow = nullptr;
  for (const auto& m : plan.matrices)
    if (!m.is_kernel && m.rank > width_of(m)
        && (narrow == nullptr || width_of(m) < width_of(*narrow)))
      narrow = &m;
  if (narrow == nullptr)
    return {};
  const auto tensor = adapted_tensor(plan, *narrow);
  const auto& key = !keys.attention.empty() && is_of_attention(tensor)
                      ? keys.attention
                      : keys.all;
  return fail(
    errc::invalid_config,
    keys.places.of(key) + in_quotes(key) + " is " + std::to_string(narrow->rank)
      + ", and layer " + in_quotes(shortened(layer_of(tensor))) + " is of "
      + std::to_string(narrow->rows) + " x " + std::to_string(narrow->columns)
      + "; at most " + std::to_string(width_of(*narrow)) + " would do");
}

// Where clients have ranks of their own, nobody need have all of them.
result<void> check_ranks(const recipe& method, const adapter_plan& plan,
                         const rank_keys& keys) {
  if (std::ranges::any_of(method.blocks, [](const block_spec& x) {
        return !x.rank_counter.empty();
      }))
    return {};
  return check_widths(plan, keys);
}

result<void> check_starts(const recipe& method, const layout& blocks,
                          const std::map<block_id, shared_values>& initial) {
  const auto models = blocks.family(model_family);
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(method.blocks,
                               [&](const auto& x) { return x.name == name; });
  };
  const bool gated = has(gate_family);
  const bool learns = gated || has(mixture_family)
                      || std::ranges::any_of(method.legs, [](const auto& x) {
                           return !x.choice.value.empty();
                         });
  // Each of its members trains one of them alone.
  if (!learns || std::ranges::any_of(method.roles, &role::choice_fixed))
    return {};
  for (std::size_t i = 1; i < models.size(); ++i)
    if (*initial.at(models[0]) == *initial.at(models[i]))
      return fail(
        errc::invalid_config,
        "all " + std::to_string(models.size()) + " models of method '"
          + method.name
          + "' begin with the same values, and equal models never "
            "part; a kind of model that begins at random, or 'init' "
            "with values for each, would do"
          + (gated ? ", or option 'start_noise' above 0, or anchors" : ""));
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
shapes_of(const objective& model, const std::optional<adapter_plan>& adapters,
          const std::optional<kernels::gate_shape>& gate,
          const inner_plans* inside) {
  std::map<std::string, tensor_list> shapes{
    {std::string{model_family}, adaptable(model)},
    {std::string{buffers_family}, model.buffer_list()},
    {std::string{control_family}, model.parameter_list()}};
  if (adapters)
    shapes[std::string{adapter_family}] = adapters->tensors;
  if (gate)
    shapes[std::string{gate_family}] = tensors_of(*gate);
  for (const auto family :
       {generalist_family, attention_family, adapter_family})
    if (const auto* plan = plan_of(family, inside))
      shapes[std::string{family}] = plan->tensors;
  if (const auto all = model.parameter_list(); !all.empty())
    shapes[std::string{body_family}] = {all.begin(), head_of(all)};
  if (const auto whole = shapes.find(std::string{adapter_family});
      whole != shapes.end())
    add_halves(tensor_list{whole->second}, shapes);
  return shapes;
}

std::map<std::string, shared_values>
initial_values(objective& model, const layout& blocks, std::uint64_t seed,
               const std::optional<adapter_plan>& adapters,
               const std::optional<kernels::gate_shape>& gate,
               const inner_plans* inside) {
  std::map<std::string, shared_values> result;
  for (const auto& x : blocks.blocks) {
    if (const auto* plan = plan_of(x.family, inside))
      result[x.name] =
        share(initial_adapter(*plan, derive_seed(seed, x.family, x.instance)));
    else if (x.family == model_family)
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
    else if (x.family == gate_family && gate)
      result[x.name] = share(initial_gate(*gate, derive_seed(seed, "gate")));
    else if (adapters)
      if (auto half = initial_half(*adapters, x.family, seed))
        result[x.name] = share(std::move(*half));
  }
  return result;
}

} // namespace troupe::models
