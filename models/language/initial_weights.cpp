#include <algorithm>
#include <cmath>
#include <system_error>

#include "core/assert.hpp"
#include "core/random.hpp"
#include "models/language/base.hpp"
#include "models/language/rearranged.hpp"
#include "models/language/tensor_table.hpp"

namespace troupe::models {

namespace {

constexpr double deviation = 0.02;

/// Of each tensor. What goes back into the stream of a layer is smaller the
/// more layers there are, where the authors say so.
std::vector<double> deviations_of(const language_spec& x,
                                  const tensor_table& table) {
  std::vector<double> out(table.tensors.size(), deviation);
  if (!x.is_causal())
    return out;
  for (const auto& layer : table.places.layers)
    for (const auto place : {layer.output, layer.down})
      out[place] = deviation / std::sqrt(2.0 * x.layers);
  return out;
}

} // namespace

std::vector<float> initial_weights(const language_spec& x, std::uint64_t seed) {
  const auto table = table_of(x);
  const auto deviations = deviations_of(x, table);
  std::vector<float> all;
  all.reserve(size_of(tensors_of(x))); // Else twice as much for a moment.
  for (std::size_t i = 0; i < table.tensors.size(); ++i) {
    const auto& tensor = table.tensors[i].what;
    if (tensor.shape.size() == 1) {
      const bool is_norm = tensor.name.ends_with(".weight");
      all.insert(all.end(), tensor.size(), is_norm ? 1.f : 0.f);
      continue;
    }
    random_stream random{derive_seed(seed, "language", i)};
    for (std::size_t j = 0; j < tensor.size(); ++j)
      all.push_back(static_cast<float>(deviations[i] * random.normal()));
  }
  return all;
}

result<void> write_base(const std::filesystem::path& folder,
                        const language_spec& x, std::span<const float> values) {
  std::error_code code; // Where there is no folder, writing says so.
  std::filesystem::create_directories(folder, code);
  tensor_list tensors;
  std::vector<float> all{values.begin(), values.end()};
  std::size_t at = 0;
  for (auto& tensor : table_of(x).tensors) {
    const auto size = tensor.what.size();
    TROUPE_ASSERT(at + size <= all.size());
    if (const auto shape = tensor.what.shape; tensor.transposed) {
      const auto turned =
        transposed(std::as_bytes(values.subspan(at, size)),
                   {.rows = static_cast<std::size_t>(shape[1]),
                    .columns = static_cast<std::size_t>(shape[0]),
                    .value_bytes = sizeof(float)});
      const auto to = std::as_writable_bytes(std::span{all}.subspan(at, size));
      std::ranges::copy(turned, to.begin());
      std::ranges::reverse(tensor.what.shape);
    }
    tensors.push_back(std::move(tensor.what));
    at += size;
  }
  return write_model_folder(folder, config_of(x), tensors, all);
}

} // namespace troupe::models
