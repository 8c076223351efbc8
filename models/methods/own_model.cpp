#include "models/methods/own_model.hpp"

#include "models/families.hpp"
#include "models/methods/visit_blocks.hpp"

namespace troupe::models {

result<double> train_own_model(const visit_input& x, local_problem& on,
                               std::uint64_t steps, double pull,
                               client_state& next) {
  const auto base = base_of(x, on, model_family, on.model.parameters().size());
  if (!base)
    return tl::unexpected{base.error()};
  const auto own = own_or(x.state.get(), own_model_family, base->values);
  if (!own)
    return tl::unexpected{own.error()};
  load_parameters(on.model, *own);
  if (const auto done = load_buffers(x, on, own_buffers_family); !done)
    return tl::unexpected{done.error()};
  step_terms terms;
  if (pull != 0)
    terms = {.proximal = pull, .anchor = base->values};
  const auto loss = run_steps(on, steps, x.seed, terms);
  if (!loss)
    return loss;
  const auto kept =
    keep(own_model_family, on.model.parameters(), next).and_then([&] {
      return keep_buffers(on, own_buffers_family, next);
    });
  if (!kept)
    return tl::unexpected{kept.error()};
  return loss;
}

} // namespace troupe::models
