#pragma once

// A run that has ended, computed again: what clients keep to themselves is in
// no folder.

#include <functional>
#include <memory>

#include "core/result.hpp"
#include "models/local_site.hpp"
#include "models/objective.hpp"
#include "node/replay/replay.hpp"
#include "node/task/finished_run.hpp"
#include "node/watch/wait_notice.hpp"

namespace troupe::node {

/// Where clients' models are made live.
struct home_site {
  models::local_site at;
  std::unique_ptr<models::objective> model;
};

/// Returns what making a model does.
[[nodiscard]] result<home_site> site_of(const workload& work);

/// Shows what there was at each version that the run evaluated, and at its end.
/// Returns `invalid_config` where a client's data is elsewhere, or nothing of
/// the run could be compared, and `invalid_data` where there is no record, or
/// what comes of it differs.
[[nodiscard]] result<void>
compute_again(const finished_run& run, const model_maker& make_model,
              const std::function<result<void>(const replayed_moment&)>& look,
              const stage_teller& now = {});

} // namespace troupe::node
