#pragma once

#include <span>
#include <string>
#include <vector>

#include "node/commands/figure.hpp"
#include "node/task/torch_model.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

/// CPU of a visit of a bare LibTorch loop.
result<double> bare_visits(const models::dataset& data,
                           std::span<const std::vector<std::uint32_t>> clients,
                           const models::bare_loop_options& opts);

/// What a tiny visit of an example costs where clients are processes.
std::vector<figure> visit_figures(const model_maker& make_model,
                                  const std::string& example);

} // namespace troupe::node
