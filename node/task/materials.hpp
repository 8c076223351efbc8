#pragma once

// What a run learns from: rows and who holds them, or a problem that has none.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/result.hpp"
#include "models/data/example_set.hpp"
#include "models/layout.hpp"
#include "models/local_trainer.hpp"
#include "models/objective.hpp"
#include "node/config/experiment.hpp"

namespace troupe::node {

/// Makes a model of a kind that needs torch.
using model_maker = std::function<result<std::unique_ptr<models::objective>>(
  const model_options& what, std::shared_ptr<const models::dataset> data)>;

/// What an example must be that somebody else brings. Without extents none can
/// be brought.
struct example_shape {
  std::vector<std::uint32_t> inputs = {};
  std::uint32_t classes = 0;
  std::uint64_t examples_max = 0; ///< Of one client.
};

/// The parts of a task on its way to become a workload.
struct materials {
  models::partition clients;
  std::size_t test_size = 0;
  models::objective_factory make_objective;
  bool has_labels = true;
  std::size_t groups =
    0; ///< Client k is in group (k - 1) mod this; 0: unknown.
  std::vector<std::vector<float>> truths = {}; ///< Of clients, where known.
  /// Names the examples; empty where there are none to differ in.
  std::function<models::digest()> data_digest = {};
  example_shape shape = {};
  bool starts = true; ///< Of lines are made here; who joins fetches them.
  /// Over the same rows; empty: the method has no common model.
  models::objective_factory make_common = {};
};

/// Whether the method has a model that nobody trains and all look through.
bool has_common(const experiment& x);

/// What that is: as [common_model] says or, without it, as [model] does.
const model_options& common_model_of(const experiment& x);

/// Makes it over examples; empty where the method has none.
models::objective_factory
common_over(const experiment& x, std::shared_ptr<const models::dataset> data,
            const model_maker& make_model);

/// Reads or makes them. Returns `invalid_config` or `invalid_data`.
[[nodiscard]] result<materials> materials_of(const experiment& x,
                                             const model_maker& make_model);

} // namespace troupe::node
