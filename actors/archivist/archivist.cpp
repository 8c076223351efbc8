#include "actors/archivist/archivist.hpp"

#include "actors/caf/errors.hpp"

namespace troupe::actors {

archivist_actor::behavior_type
archivist(archivist_actor::stateful_pointer<archivist_state> self,
          archivist_args args) {
  self->state.args = std::move(args);
  return {
    [self](const messages::commit_requested& x)
      -> caf::result<messages::version_committed> {
      if (auto done = self->state.args.books->commit(x); !done)
        return to_caf(done.error());
      return messages::version_committed{x.line, x.head};
    },
    [self](const messages::save_requested& x)
      -> caf::result<messages::records_saved> {
      if (auto done = self->state.args.books->save(x); !done)
        return to_caf(done.error());
      return messages::records_saved{x.token};
    },
    [self](const messages::line_noted& x) {
      // A full disk shows at the next commit, which is where it matters.
      (void)self->state.args.books->note(x);
    },
  };
}

} // namespace troupe::actors
