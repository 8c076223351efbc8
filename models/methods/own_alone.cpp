#include "models/methods/built_in.hpp"
#include "models/methods/local_loop.hpp"
#include "models/methods/own_model.hpp"
#include "models/methods/visit_blocks.hpp"

namespace troupe::models {

result<trained> own_sgd(const visit_input& x, local_problem& on) {
  auto out = begin_result(x);
  const auto plan = plan_visit(on.how, on.rows.size(), x.seed);
  out.steps = plan.steps;
  if (plan.idle())
    return out;
  const auto loss = train_own_model(x, on, plan.steps, 0, out.next);
  if (!loss)
    return tl::unexpected{loss.error()};
  out.loss = *loss;
  return out;
}

} // namespace troupe::models
