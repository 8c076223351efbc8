#pragma once

// What others ask of torch, as one table of functions: the executable loads the
// room as a module (libtroupe_torch.so) when it has something to train, and so
// starts at once when it has not. None of torch's headers are read here.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/values.hpp"
#include "models/data/example_set.hpp"
#include "models/language/base.hpp"
#include "models/language/language_config.hpp"
#include "models/language/token_rows.hpp"
#include "models/objective.hpp"
#include "models/torch/bare_loop.hpp"
#include "models/torch/model_config.hpp"

namespace troupe::models {

struct torch_functions {
  /// See `make_torch_objective`.
  result<std::unique_ptr<objective>> (*make_objective)(
    const model_config& config, std::shared_ptr<const dataset> data);
  /// See threads.hpp, as the next two. Called first.
  void (*use_one_thread)();
  std::string (*description)();
  std::string (*fingerprint)();
  /// See bare_loop.hpp.
  result<double> (*bare_loop)(
    const dataset& data, std::span<const std::vector<std::uint32_t>> clients,
    const bare_loop_options& opts);
  /// See language/text_objective.hpp.
  result<std::unique_ptr<objective>> (*make_language)(
    const language_config& config, std::shared_ptr<const language_base> base,
    std::shared_ptr<const token_rows> rows);
  /// See `make_inner_objective`.
  result<std::unique_ptr<objective>> (*make_inner)(
    const model_config& config, std::shared_ptr<const dataset> data,
    shared_values base);
};

} // namespace troupe::models

/// The only name that the module shows. It lives as long as the module.
extern "C" const troupe::models::torch_functions* troupe_torch();
