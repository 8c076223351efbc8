#include "actors/kernel_worker/kernel_worker.hpp"

#include <caf/actor_cast.hpp>
#include <caf/send.hpp>

#include "actors/caf/errors.hpp"
#include "actors/kernel_worker/merge.hpp"

namespace troupe::actors {

kernel_worker_actor::behavior_type
kernel_worker(kernel_worker_actor::stateful_pointer<kernel_worker_state> self,
              kernel_worker_args args) {
  self->state.args = std::move(args);
  return {
    [self](const messages::merge_requested& x)
      -> caf::result<messages::merge_finished> {
      const auto& args = self->state.args;
      auto merged = merge(*args.arithmetic, *args.blocks, x);
      if (!merged)
        return to_caf(merged.error());
      return std::move(*merged);
    },
    [self](const messages::job_requested& x) {
      auto client = caf::actor_cast<caf::actor>(self->current_sender());
      self->state.args.jobs->submit({x.due, x.visit}, work_of(x.visit, x.what),
                                    [client](messages::job_finished done) {
                                      caf::anon_send(client, std::move(done));
                                    });
    },
    [self](const messages::evaluation_requested& x) {
      messages::evaluation_finished answer{
        .line = x.line, .head = x.head, .scores = {}, .problem = {}};
      auto scores = self->state.args.evaluator->evaluate(x.input);
      if (scores)
        answer.scores = std::move(*scores);
      else
        answer.problem = scores.error();
      return answer;
    },
  };
}

} // namespace troupe::actors
