#include "actors/expert/expert.hpp"

#include "actors/record/snapshot.hpp"

namespace troupe::actors {

expert_actor::behavior_type
expert(expert_actor::stateful_pointer<expert_state> self, expert_args args) {
  self->state.versions.emplace(args.options, std::move(args.first));
  self->state.args = std::move(args);
  const auto part =
    "line/" + std::to_string(self->state.args.options.line.value) + "/reader";
  if (const auto& from = self->state.args.resumed)
    restore(*from, part, *self->state.versions);
  return {
    [self](const messages::version_published& x) {
      self->state.versions->add(x);
    },
    [self](const messages::serve_requested& x) {
      const auto& args = self->state.args;
      self->send(args.others->gateway,
                 self->state.versions->serve(x, *args.blocks));
    },
    [self, part](const messages::state_asked& x) {
      x.draft->add(part, *self->state.versions);
    },
  };
}

} // namespace troupe::actors
