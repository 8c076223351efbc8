#pragma once

// Small models to be adapted, and values for them.

#include <memory>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "models/adapters/adapters.hpp"

namespace troupe::models {

using floats = std::vector<float>;
using views = std::vector<std::span<const float>>;

inline floats draw(std::size_t size, std::uint64_t seed) {
  random_stream random{seed};
  floats xs(size);
  for (auto& x : xs)
    x = static_cast<float>(random.normal());
  return xs;
}

inline std::unique_ptr<kernels::backend> cpu() {
  return kernels::make_backend({}).value();
}

inline adapter_plan planned(const tensor_list& model,
                            const adapter_options& how) {
  auto plan = plan_adapters(model, how);
  EXPECT_TRUE(plan) << plan.error().context;
  return plan ? *plan : adapter_plan{};
}

/// A model with all that can be adapted.
inline const tensor_list mixed = {{"first.weight", {4, 2, 3, 5}},
                                  {"first.bias", {4}},
                                  {"norm.weight", {4}},
                                  {"norm.bias", {4}},
                                  {"last.weight", {3, 6}},
                                  {"last.bias", {3}},
                                  {"scale", {}}};

} // namespace troupe::models
