// Average ensembles, which DDOME is compared with: several runs of FedAvg at
// once, over the same visits. Each of its models has batches in an order of its
// own, so that models which begin equal part; a client predicts by the mean of
// the chances that they give.

#include <vector>

#include "core/random.hpp"
#include "models/methods/built_in.hpp"
#include "models/methods/several_models.hpp"

namespace troupe::models {

namespace {

result<std::vector<base_block>> all_models(const visit& v) {
  return check_outputs(v).and_then(
    [&] { return v.all_of(model_family, v.parameters().size()); });
}

/// Of each model its own; none where this kind of model has none.
result<std::vector<base_block>> all_buffers(const visit& v) {
  return v.all_of(buffers_family, v.on.model.buffers().size());
}

task<done> train_each(visit& v) {
  const auto fetched = co_await all_models(v);
  const auto buffers = co_await all_buffers(v);
  double total = 0;
  for (std::size_t i = 0; i < fetched.size(); ++i) {
    co_await v.load_buffers(buffers_family);
    if (!buffers.empty())
      co_await v.copy(buffers[i].values, v.on.model.buffers());
    v.load(fetched[i].values);
    total +=
      co_await v.descend(v.plan.steps, derive_seed(v.in.seed, "model", i));
    co_await v.offer(fetched[i], v.parameters());
    if (!buffers.empty())
      co_await v.offer(buffers[i], v.on.model.buffers());
  }
  v.out.loss = total / static_cast<double>(fetched.size());
  co_return {};
}

task<scores> score_each(visit& v, split part, row_span rows) {
  const auto fetched = co_await all_models(v);
  const auto buffers = co_await all_buffers(v);
  const std::vector<double> even(fetched.size(),
                                 1.0 / static_cast<double>(fetched.size()));
  const several together{fetched, even, blend::chances, buffers};
  co_return co_await score_together(v, together, part, rows);
}

/// Its recipe has two models, as published, and no option.
std::uint64_t each_passes(const training_options&) {
  return 2;
}

} // namespace

const local_method each_sgd{
  .train = train_each, .score = score_each, .passes = each_passes};

} // namespace troupe::models
