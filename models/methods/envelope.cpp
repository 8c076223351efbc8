// pFedMe. The shared model follows the Moreau envelope of a client's loss: for
// each batch the client's own model theta makes `inner_steps` steps towards
//
//   argmin  loss(theta; batch) + lambda / 2 |theta - w|^2
//
// and then w moves by rate * lambda (w - theta) towards it. Both begin where
// the shared model and the client's own stand; theta stays with the client.

#include "models/aligned.hpp"
#include "models/families.hpp"
#include "models/methods/built_in.hpp"
#include "models/methods/local_loop.hpp"
#include "models/methods/visit_blocks.hpp"

namespace troupe::models {

namespace {

struct envelope {
  double pull; ///< lambda
  double rate; ///< Of theta.
  std::uint64_t inner;
};

envelope envelope_of(const training_options& how) {
  return {.pull = option_or(how, "lambda", 15),
          .rate = option_or(how, "inner_rate", 0.01),
          .inner = envelope_passes(how)};
}

/// One batch: theta, which is live, moves, and then `w` does.
result<double> step(local_problem& on, const envelope& how,
                    std::span<const std::uint32_t> rows, std::uint64_t seed,
                    std::span<float> w) {
  double first = 0;
  for (std::uint64_t k = 0; k < how.inner; ++k) {
    const auto loss = on.model.backward(rows, derive_seed(seed, "inner", k));
    if (!loss)
      return loss;
    if (k == 0)
      first = *loss;
    const auto done = on.arithmetic.step(
      kernels::sgd_step{.rate = static_cast<float>(how.rate),
                        .proximal = static_cast<float>(how.pull)},
      {.weights = on.model.parameters(),
       .gradient = on.model.gradient(),
       .anchor = w});
    if (!done)
      return tl::unexpected{done.error()};
  }
  const auto theta = on.model.parameters();
  const auto part = static_cast<float>(on.rate * how.pull);
  for (std::size_t j = 0; j < w.size(); ++j)
    w[j] -= part * (w[j] - theta[j]);
  return first;
}

} // namespace

result<trained> envelope_sgd(const visit_input& x, local_problem& on) {
  if (auto ok = check_plain_sgd(on); !ok)
    return tl::unexpected{ok.error()};
  if (envelope_passes(on.how) == 0)
    return fail(errc::invalid_config,
                "option 'inner_steps' is below 1, so nothing would be learned");
  auto out = begin_result(x);
  const auto plan = plan_visit(on.how, on.rows.size(), x.seed);
  const auto how = envelope_of(on.how);
  out.steps = plan.steps;
  if (plan.idle())
    return out;
  const auto base = base_of(x, on, model_family, on.model.parameters().size());
  if (!base)
    return tl::unexpected{base.error()};
  const auto own = own_or(x.state.get(), own_model_family, base->values);
  if (!own)
    return tl::unexpected{own.error()};
  load_parameters(on.model, *own);
  if (const auto done = load_buffers(x, on, own_buffers_family); !done)
    return tl::unexpected{done.error()};
  aligned_floats w(base->values.begin(), base->values.end());
  batch_sequence batches{on.rows, on.how, x.seed};
  for (std::uint64_t i = 0; i < plan.steps; ++i) {
    const auto loss =
      step(on, how, batches.next(), derive_seed(x.seed, "operators", i), w);
    if (!loss)
      return tl::unexpected{loss.error()};
    out.loss += *loss / static_cast<double>(plan.steps);
  }
  const auto done =
    offer_difference(*base, w, on, out)
      .and_then(
        [&] { return keep(own_model_family, on.model.parameters(), out.next); })
      .and_then([&] { return keep_buffers(on, own_buffers_family, out.next); });
  if (!done)
    return tl::unexpected{done.error()};
  return out;
}

std::uint64_t envelope_passes(const training_options& how) {
  return static_cast<std::uint64_t>(option_or(how, "inner_steps", 5));
}

} // namespace troupe::models
