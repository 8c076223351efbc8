#include "models/methods/shared_model.hpp"

#include "models/methods/visit_blocks.hpp"

namespace troupe::models {

result<trained> train_shared_model(const visit_input& x, local_problem& on,
                                   const shared_visit& how) {
  auto out = begin_result(x);
  const auto plan = plan_visit(on.how, on.rows.size(), x.seed);
  out.steps = plan.steps;
  if (plan.idle())
    return out;
  const auto base = begin_model(x, on, how.block);
  if (!base)
    return tl::unexpected{base.error()};
  // At zero the term is left out, not multiplied by zero: the bits are those of
  // plain SGD.
  step_terms terms;
  if (how.pull != 0)
    terms = {.proximal = how.pull, .anchor = base->values};
  const auto loss = run_steps(on, plan.steps, x.seed, terms);
  if (!loss)
    return tl::unexpected{loss.error()};
  out.loss = *loss;
  if (const auto done = end_model(x, on, *base, out); !done)
    return tl::unexpected{done.error()};
  return out;
}

} // namespace troupe::models
