#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "models/data/example_set.hpp"
#include "models/objective.hpp"

namespace troupe::test {

struct small_data_options {
  std::vector<std::int64_t> shape = {4};
  std::int64_t classes = 3;
  std::size_t size = 12;
  std::uint64_t seed = 1;
};

/// Real numbers without a meaning, and labels that follow from the first of
/// them.
inline models::example_set small_examples(const small_data_options& x) {
  random_stream draws{x.seed};
  const auto per_example = models::tensor_spec{"", x.shape}.size();
  std::vector<float> values(x.size * per_example);
  for (auto& value : values)
    value = static_cast<float>(draws.normal());
  models::example_set result{.size = x.size, .inputs = {}, .labels = {}};
  for (std::size_t i = 0; i < x.size; ++i) {
    const auto third = values[i * per_example] * 3 + 100;
    result.labels.push_back(static_cast<std::int64_t>(third) % x.classes);
  }
  result.inputs.push_back({"x", x.shape, std::move(values)});
  return result;
}

inline std::shared_ptr<models::dataset>
small_dataset(const small_data_options& x = {}) {
  auto result = std::make_shared<models::dataset>();
  result->name = "small";
  result->train = small_examples(x);
  result->test = small_examples({x.shape, x.classes, x.size, x.seed + 1});
  result->classes = x.classes;
  return result;
}

} // namespace troupe::test
