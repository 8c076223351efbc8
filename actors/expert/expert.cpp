#include "actors/expert/expert.hpp"

#include "actors/metrics/status.hpp"
#include "actors/record/snapshot.hpp"

namespace troupe::actors {

namespace {

using expert_pointer = expert_actor::stateful_pointer<expert_state>;

/// Once, and not for each who fetches it.
messages::version_published as_sent(messages::version_published x,
                                    const models::layout& blocks) {
  for (auto& y : x.blocks)
    y.values = models::sent_of(*blocks.find(y.block), y.values);
  return x;
}

void serve(expert_pointer self, const messages::serve_requested& x) {
  const auto& args = self->state.args;
  const auto from_here = [self, x] {
    const auto& args = self->state.args;
    self->send(args.others->gateway,
               self->state.versions->serve(x, *args.blocks));
  };
  const auto lacks = self->state.versions->lacks(x);
  if (!lacks)
    return from_here();
  self->request(args.others->archivist, args.waits.store, *lacks)
    .then(
      [self, x, from_here](const messages::version_read& done) {
        if (!done.found)
          return from_here();
        const auto& args = self->state.args;
        self->send(args.others->gateway,
                   self->state.versions->serve(x, *done.found, *args.blocks));
      },
      [from_here](const caf::error&) { from_here(); });
}

} // namespace

expert_actor::behavior_type
expert(expert_actor::stateful_pointer<expert_state> self, expert_args args) {
  self->state.versions.emplace(args.options,
                               as_sent(std::move(args.first), *args.blocks));
  self->state.args = std::move(args);
  const auto part =
    "line/" + std::to_string(self->state.args.options.line.value) + "/reader";
  if (const auto& from = self->state.args.resumed)
    restore(*from, part, *self->state.versions);
  return {
    [self](const messages::version_published& x) {
      self->state.versions->add(as_sent(x, *self->state.args.blocks));
    },
    [self](const messages::serve_requested& x) { serve(self, x); },
    [self, part](const messages::state_asked& x) {
      x.draft->add(part, *self->state.versions);
    },
    [self](const messages::status_asked& x) {
      x.draft->add_mailbox(self->state.args.options.line,
                           self->mailbox().size());
    },
  };
}

} // namespace troupe::actors
