#include "actors/expert/expert.hpp"

namespace troupe::actors {

expert_actor::behavior_type
expert(expert_actor::stateful_pointer<expert_state> self, expert_args args) {
  self->state.versions.emplace(args.options, std::move(args.first));
  self->state.args = std::move(args);
  return {
    [self](const messages::version_published& x) {
      self->state.versions->add(x);
    },
    [self](const messages::serve_requested& x) {
      const auto& args = self->state.args;
      self->send(args.others->gateway,
                 self->state.versions->serve(x, *args.blocks));
    },
  };
}

} // namespace troupe::actors
