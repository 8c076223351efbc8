// pFedMe (Dinh et al. 2020). The shared model follows the Moreau envelope of a
// client's loss: for each batch the client's own model theta makes
// `inner_steps` steps towards
//
//   argmin  loss(theta; batch) + lambda / 2 |theta - w|^2
//
// and then w moves by rate * lambda (w - theta) towards it. Both begin where
// the shared model and the client's own stand; theta stays with the client.

#include "models/methods/built_in.hpp"
#include "models/visit/visit.hpp"

namespace troupe::models {

namespace {

std::uint64_t envelope_passes(const training_options& how) {
  return static_cast<std::uint64_t>(option_of(how, "inner_steps"));
}

task<done> train_envelope(visit& v) {
  const auto inner = envelope_passes(v.on.how);
  const auto pull = v.option("lambda");
  const kernels::sgd_step towards{.rate =
                                    static_cast<float>(v.option("inner_rate")),
                                  .proximal = static_cast<float>(pull)};
  const auto base = co_await v.base(model_family, v.parameters().size());
  v.load(co_await v.own_or(own_model_family, base.values));
  co_await v.load_buffers(own_buffers_family);
  const auto theta = v.parameters();
  const auto w = v.copy_of(base.values);
  const auto apart = v.room(w.size());
  batch_sequence from{v.on.rows, v.on.how, v.in.seed};
  for (std::uint64_t i = 0; i < v.plan.steps; ++i) {
    const auto next = from.next_batch();
    for (std::uint64_t k = 0; k < inner; ++k) {
      const auto loss = co_await v.differentiate(
        {next.rows, derive_seed(next.seed, "inner", k)});
      if (k == 0)
        v.out.loss += loss / static_cast<double>(v.plan.steps);
      co_await v.update(
        towards, {.weights = theta, .gradient = v.gradient(), .anchor = w});
    }
    co_await v.move(apart, w, -1, theta);
    co_await v.move(w, w, -v.on.rate * pull, apart);
  }
  co_await v.offer(base, w);
  co_await v.keep(own_model_family, theta);
  co_await v.keep_buffers(own_buffers_family);
  co_return {};
}

} // namespace

const local_method envelope_sgd{
  .train = train_envelope, .passes = envelope_passes, .needs = check_plain_sgd};

} // namespace troupe::models
