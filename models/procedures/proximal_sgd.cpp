#include "models/procedures/built_in.hpp"
#include "models/procedures/local_loop.hpp"
#include "models/procedures/visit_blocks.hpp"

namespace troupe::models {

result<trained> proximal_sgd(const visit_input& x, local_problem& on) {
  auto out = begin_result(x);
  const auto plan = plan_visit(on.how, on.rows.size(), x.seed);
  out.steps = plan.steps;
  if (plan.idle())
    return out;
  const auto base = begin_model(x, on);
  if (!base)
    return tl::unexpected{base.error()};
  // At zero the term is left out, not multiplied by zero: the bits are `sgd`'s.
  step_terms terms;
  if (const auto proximal = option_or(on.how, "proximal", 0); proximal != 0)
    terms = {.proximal = proximal, .anchor = base->values};
  const auto loss = run_steps(on, plan.steps, x.seed, terms);
  if (!loss)
    return tl::unexpected{loss.error()};
  out.loss = *loss;
  if (const auto done = end_model(x, on, *base, out); !done)
    return tl::unexpected{done.error()};
  return out;
}

} // namespace troupe::models
