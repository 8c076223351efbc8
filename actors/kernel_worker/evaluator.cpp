#include "actors/kernel_worker/evaluator.hpp"

#include "actors/metrics/status.hpp"

namespace troupe::actors {

evaluator_actor::behavior_type
evaluator(evaluator_actor::stateful_pointer<evaluator_state> self,
          evaluator_args args) {
  self->state.args = std::move(args);
  return {
    [self](const messages::evaluation_requested& x) {
      messages::evaluation_finished answer{
        .line = x.line, .head = x.head, .scores = {}, .problem = {}};
      auto scores = self->state.args.trainer->evaluate(x.input);
      if (scores)
        answer.scores = std::move(*scores);
      else
        answer.problem = scores.error();
      return answer;
    },
    [self](const messages::status_asked& x) {
      x.draft->add_mailbox("evaluator", self->mailbox().size());
    },
  };
}

} // namespace troupe::actors
