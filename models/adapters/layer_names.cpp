#include "models/adapters/layer_names.hpp"

#include <algorithm>
#include <vector>

namespace troupe::models {

namespace {

constexpr std::size_t layers_listed_max = 12;

/// The first of the model's layers, each once, for an error text.
std::string list_of_layers(const tensor_list& model) {
  std::vector<std::string_view> layers;
  for (const auto& x : model)
    if (const auto layer = layer_of(x.name);
        std::ranges::find(layers, layer) == layers.end())
      layers.push_back(layer);
  std::string text;
  for (std::size_t i = 0; i < std::min(layers.size(), layers_listed_max); ++i)
    text += (i == 0 ? "'" : ", '") + std::string{layers[i]} + '\'';
  if (layers.size() > layers_listed_max)
    text +=
      " and " + std::to_string(layers.size() - layers_listed_max) + " more";
  return text;
}

bool is_adapted(const adapter_plan& plan, std::size_t at) {
  return std::ranges::find(plan.matrices, at, &adapted_matrix::at)
           != plan.matrices.end()
         || std::ranges::find(plan.vectors, at, &adapted_vector::at)
              != plan.vectors.end();
}

} // namespace

std::string_view layer_of(std::string_view tensor) {
  return tensor.substr(0, tensor.rfind('.'));
}

bool goes_by(std::string_view layer, std::string_view name) {
  return layer == name
         || (layer.ends_with(name)
             && layer.substr(0, layer.size() - name.size()).ends_with('.'));
}

bool is_named(std::string_view layer, std::span<const std::string> names) {
  return names.empty() || std::ranges::any_of(names, [&](const auto& name) {
           return goes_by(layer, name);
         });
}

result<void> check_names(const tensor_list& model, const adapter_plan& plan,
                         std::span<const std::string> names) {
  for (const auto& name : names) {
    bool found = false;
    bool adapted = false;
    std::size_t at = 0;
    for (const auto& x : model) {
      if (goes_by(layer_of(x.name), name)) {
        found = true;
        adapted = adapted || is_adapted(plan, at);
      }
      at += x.size();
    }
    if (!found)
      return fail(errc::invalid_config,
                  "model.adapt: the model has no layer '" + name
                    + "'; its layers are: " + list_of_layers(model));
    if (!adapted)
      return fail(errc::invalid_config,
                  "model.adapt: layer '" + name
                    + "' has nothing that the chosen kinds of adapters could "
                      "change; linear layers and convolutions can be adapted, "
                      "and normalisations with adapter_norm = 1");
  }
  return {};
}

} // namespace troupe::models
