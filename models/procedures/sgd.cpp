#include "models/procedures/built_in.hpp"
#include "models/procedures/local_loop.hpp"
#include "models/procedures/visit_blocks.hpp"

namespace troupe::models {

result<trained> sgd(const visit_input& x, local_problem& on) {
  auto out = begin_result(x);
  const auto plan = plan_visit(on.how, on.rows.size(), x.seed);
  out.steps = plan.steps;
  if (plan.idle())
    return out;
  const auto base = begin_model(x, on);
  if (!base)
    return tl::unexpected{base.error()};
  const auto loss = run_steps(on, plan.steps, x.seed);
  if (!loss)
    return tl::unexpected{loss.error()};
  out.loss = *loss;
  if (const auto done = end_model(x, on, *base, out); !done)
    return tl::unexpected{done.error()};
  return out;
}

} // namespace troupe::models
