#include "models/adapters/layer_names.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "core/nearest.hpp"
#include "core/text.hpp"

namespace troupe::models {

namespace {

constexpr std::size_t names_listed_max = 12;

/// Last parts of layers' names, each once: layers of all blocks go by one.
std::vector<std::string> endings_of(std::span<const std::string> layers) {
  std::vector<std::string> found;
  std::set<std::string_view> seen;
  for (const std::string_view x : layers)
    if (const auto last = x.substr(x.rfind('.') + 1); seen.insert(last).second)
      found.emplace_back(last);
  return found;
}

std::string first_names(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), names_listed_max); ++i)
    text += (i == 0 ? "" : ", ") + in_quotes(shortened(names[i]));
  if (names.size() > names_listed_max)
    text += " and " + std::to_string(names.size() - names_listed_max) + " more";
  return text;
}

std::vector<std::string> all_layers_of(const tensor_list& model) {
  std::vector<std::string> layers;
  for (const auto& x : model)
    layers.emplace_back(layer_of(x.name));
  return layers;
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

std::string names_like(std::string_view name,
                       std::span<const std::string> layers) {
  if (layers.empty())
    return {};
  const auto endings = endings_of(layers);
  const bool is_whole = name.find('.') != std::string_view::npos;
  const auto near = nearest(
    name, is_whole ? std::vector<std::string>{layers.begin(), layers.end()}
                   : endings);
  const auto& first = layers.front();
  return (near.empty() ? "; " : "; did you mean " + in_quotes(near) + "? ")
         + first_names(endings)
         + (first.find('.') == std::string::npos
              ? ""
              : ", or one in full, as " + in_quotes(shortened(first)) + ",")
         + " would do";
}

result<void> check_names(const tensor_list& model, const adapter_plan& plan,
                         std::span<const std::string> names,
                         const key_places& places) {
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
                  places.of("model.adapt") + "'model.adapt' has "
                    + in_quotes(shortened(name))
                    + ", and the model has no such layer"
                    + names_like(name, all_layers_of(model)));
    if (!adapted)
      return fail(
        errc::invalid_config,
        places.of("model.adapt") + "'model.adapt' has "
          + in_quotes(shortened(name))
          + ", which has nothing that the chosen kinds of adapters "
            "could change; linear layers and convolutions can be adapted, "
            "and normalisations with adapter_norm = 1");
  }
  return {};
}

} // namespace troupe::models
