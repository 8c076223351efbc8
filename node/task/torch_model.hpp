#pragma once

// LibTorch, loaded when somebody asks for it: its libraries take half a second
// and 160 MB, which most commands have no use for.

#include <memory>

#include "core/result.hpp"
#include "core/values.hpp"
#include "models/data/example_set.hpp"
#include "models/language/base.hpp"
#include "models/language/language_config.hpp"
#include "models/language/token_rows.hpp"
#include "models/objective.hpp"
#include "models/torch/module.hpp"
#include "node/config/experiment.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

/// Loads libtroupe_torch.so, which stands beside the executable or in
/// ../lib/troupe, and has it compute in the calling thread alone; later calls
/// cost nothing. Returns `unsupported` with what would do.
[[nodiscard]] result<const models::torch_functions*> load_torch();

/// Makes the models of configurations, but for those that need no torch.
model_maker models_by(const models::torch_functions& torch);

/// The same, by the torch that the first model loads.
[[nodiscard]] result<std::unique_ptr<models::objective>>
make_torch_model(const model_options& what,
                 std::shared_ptr<const models::dataset> data);

inner_model_maker inner_models_by(const models::torch_functions& torch);

/// The same whose adapters stand inside its layers, over weights that nobody
/// trains.
[[nodiscard]] result<std::unique_ptr<models::objective>>
make_torch_inner(const model_options& what,
                 std::shared_ptr<const models::dataset> data,
                 shared_values base);

/// A language model, by the torch that the first call loads.
[[nodiscard]] result<std::unique_ptr<models::objective>>
make_torch_language(const models::language_config& config,
                    std::shared_ptr<const models::language_base> base,
                    std::shared_ptr<const models::token_rows> rows);

} // namespace troupe::node
