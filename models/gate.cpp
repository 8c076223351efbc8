#include "models/gate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "core/random.hpp"
#include "core/text.hpp"
#include "models/embeddings.hpp"
#include "models/families.hpp"

namespace troupe::models {

namespace {

/// Of a recipe's option, or 0 where it has none of this name.
double number_of(const options& all, const char* name) {
  const auto found = all.find(name);
  return found == all.end() ? 0 : found->second;
}

std::string text_of(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const auto x : shape)
    text += (text.empty() ? "" : " x ") + std::to_string(x);
  return text.empty() ? "one value" : text;
}

/// "'w' of 64 x 784 and of 8 x 784", the common model's first; empty where the
/// lists agree.
std::string difference(const tensor_list& common, const tensor_list& own) {
  for (std::size_t i = 0; i < std::max(common.size(), own.size()); ++i) {
    const auto* a = i < common.size() ? &common[i] : nullptr;
    const auto* b = i < own.size() ? &own[i] : nullptr;
    if (a && b && *a == *b)
      continue;
    const auto said = [](const tensor_spec* x) {
      return x ? in_quotes(x->name) + " of " + text_of(x->shape)
               : std::string{"none"};
    };
    return said(a) + " and "
           + (a && b && a->name == b->name ? "of " + text_of(b->shape)
                                           : said(b));
  }
  return {};
}

result<void> check_tensors(const recipe& method, const objective& experts,
                           const objective& common) {
  auto other = difference(common.parameter_list(), experts.parameter_list());
  if (other.empty())
    other = difference(common.buffer_list(), experts.buffer_list());
  if (other.empty())
    return {};
  return fail(errc::invalid_config,
              "method '" + method.name
                + "' has from_common = 1, and the common model has other "
                  "tensors than 'model' ("
                + other
                + "); 'common_model' as 'model', or from_common = 0, would do");
}

shared_values with_noise(const shared_values& x, double deviation,
                         std::uint64_t seed) {
  auto values = x.copy();
  random_stream draws{seed};
  for (auto& value : values)
    value = static_cast<float>(static_cast<double>(value)
                               + deviation * draws.normal());
  return share(std::move(values));
}

} // namespace

result<std::optional<kernels::gate_shape>>
gate_for(const recipe& method, const options& said, objective* common) {
  if (std::ranges::none_of(method.blocks, [](const block_spec& x) {
        return x.name == gate_family;
      }))
    return std::optional<kernels::gate_shape>{};
  const auto* seen = common ? common->embeddings() : nullptr;
  if (!seen)
    return fail(errc::invalid_config,
                "method '" + method.name
                  + "' looks at what goes into the last layer of its common "
                    "model, and this kind has none; a network of the "
                    "catalogue, or a script that exports 'embed', would do");
  const auto all = with_defaults(method, said);
  const auto width = static_cast<std::size_t>(number_of(all, "gate_width"));
  kernels::gate_shape x{.inputs = seen->width(),
                        .hidden = width > 0 ? width : seen->width()};
  for (const auto& block : method.blocks)
    if (block.name == model_family)
      x.experts = block.count;
  return std::optional{x};
}

tensor_list tensors_of(const kernels::gate_shape& x) {
  const auto inputs = static_cast<std::int64_t>(x.inputs);
  const auto hidden = static_cast<std::int64_t>(x.hidden);
  const auto experts = static_cast<std::int64_t>(x.experts);
  return {{"hidden.weight", {hidden, inputs}},
          {"hidden.bias", {hidden}},
          {"output.weight", {experts, hidden}},
          {"output.bias", {experts}}};
}

std::vector<float> initial_gate(const kernels::gate_shape& x,
                                std::uint64_t seed) {
  const auto tensors = tensors_of(x);
  const std::array from{x.inputs, x.inputs, x.hidden, x.hidden};
  std::vector<float> values;
  values.reserve(x.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto bound = 1 / std::sqrt(static_cast<double>(from.at(i)));
    random_stream draws{derive_seed(seed, "initial parameters", i)};
    for (std::size_t j = 0; j < tensors[i].size(); ++j)
      values.push_back(static_cast<float>(bound * (2 * draws.uniform() - 1)));
  }
  return values;
}

result<void> begin_as_common(const recipe& method, const options& said,
                             const layout& blocks, const objective& experts,
                             const objective& common,
                             const shared_values& parameters,
                             const shared_values& buffers, std::uint64_t seed,
                             std::map<block_id, shared_values>& initial) {
  const auto all = with_defaults(method, said);
  if (number_of(all, "from_common") != 0) {
    if (auto ok = check_tensors(method, experts, common); !ok)
      return ok;
    for (const auto id : blocks.family(model_family))
      initial[id] = parameters;
    if (buffers)
      for (const auto id : blocks.family(buffers_family))
        initial[id] = buffers;
  }
  const auto noise = number_of(all, "start_noise");
  if (noise > 0)
    for (const auto id : blocks.family(model_family)) {
      const auto instance = blocks.find(id)->instance;
      initial[id] = with_noise(initial.at(id), noise,
                               derive_seed(seed, "start noise", instance));
    }
  return {};
}

} // namespace troupe::models
