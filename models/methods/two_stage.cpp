// Ditto. In the publication each minibatch makes a step of the shared w and one
// of the personal v, which is drawn towards w as it was when the visit began.
// Neither reads what the other writes, so all steps of w and then all of v,
// over the same batches, are the same visit without swapping models at each
// step.

#include "models/methods/built_in.hpp"
#include "models/methods/local_loop.hpp"
#include "models/methods/own_model.hpp"

namespace troupe::models {

result<trained> two_stage_sgd(const visit_input& x, local_problem& on) {
  auto out = sgd(x, on);
  if (!out)
    return out;
  const auto plan = plan_visit(on.how, on.rows.size(), x.seed);
  if (plan.idle())
    return out;
  const auto loss = train_own_model(x, on, plan.steps,
                                    option_or(on.how, "lambda", 0), out->next);
  if (!loss)
    return tl::unexpected{loss.error()};
  return out;
}

} // namespace troupe::models
