#include "actors/kernel_worker/kernel_worker.hpp"

#include <caf/actor_cast.hpp>
#include <caf/send.hpp>

#include "actors/metrics/status.hpp"

namespace troupe::actors {

kernel_worker_actor::behavior_type
kernel_worker(kernel_worker_actor::stateful_pointer<kernel_worker_state> self,
              std::shared_ptr<workshop> jobs) {
  self->state.jobs = std::move(jobs);
  return {
    [self](const messages::job_requested& x) {
      auto client = caf::actor_cast<caf::actor>(self->current_sender());
      self->state.jobs->submit(
        {.due = x.due,
         .visit = x.visit,
         .is = std::holds_alternative<messages::train_job>(x.what)
                 ? workshop::kind::training
                 : workshop::kind::choice},
        work_of(x.visit, x.what), [client](messages::job_finished done) {
          caf::anon_send(client, std::move(done));
        });
    },
    [self](const messages::status_asked& x) {
      x.draft->add_mailbox("kernel_worker", self->mailbox().size());
    },
  };
}

} // namespace troupe::actors
