#include "actors/kernel_worker/merger.hpp"

#include "actors/caf/errors.hpp"
#include "actors/metrics/status.hpp"

namespace troupe::actors {

merger_actor::behavior_type
merger(merger_actor::stateful_pointer<merger_state> self, merger_args args) {
  self->state.args = std::move(args);
  return {
    [self](const messages::merge_requested& x)
      -> caf::result<messages::merge_finished> {
      const auto& args = self->state.args;
      auto merged = merge(*args.arithmetic, *args.blocks, x, args.on_disk);
      if (!merged)
        return to_caf(merged.error());
      return std::move(*merged);
    },
    [self](const messages::status_asked& x) {
      x.draft->add_mailbox("merger", self->mailbox().size());
    },
  };
}

} // namespace troupe::actors
