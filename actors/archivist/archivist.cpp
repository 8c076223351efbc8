#include "actors/archivist/archivist.hpp"

#include "actors/caf/errors.hpp"
#include "actors/record/events.hpp"

namespace troupe::actors {

namespace {

using self_pointer = archivist_actor::stateful_pointer<archivist_state>;

// Here and not by somebody who hears of it: what anybody does with a version
// comes after it in the record. And before the commit, with which it becomes
// durable.
void note(self_pointer self, const messages::commit_requested& x) {
  auto& [args, noted] = self->state;
  if (!args.events || noted[x.line] == x.head)
    return; // A commit may be asked for again.
  noted[x.line] = x.head;
  const auto at = self->clock().now() - args.started;
  (void)args.books->note({messages::line_noted::file::events, event_of(x, at)});
}

// What its client said before stands in the record as long as it does: nobody
// will say that again.
result<void> keep(const archivist_args& args, const messages::part_offered& x) {
  if (args.arrived->outlives())
    if (auto ok = args.books->flush(); !ok)
      return ok;
  return args.arrived->keep(x);
}

} // namespace

archivist_actor::behavior_type archivist(self_pointer self,
                                         archivist_args args) {
  self->state.args = std::move(args);
  return {
    [self](const messages::commit_requested& x)
      -> caf::result<messages::version_committed> {
      note(self, x);
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
    [self](const messages::version_wanted& x)
      -> caf::result<messages::version_read> {
      auto found = self->state.args.books->read(x);
      if (!found)
        return to_caf(found.error());
      return messages::version_read{std::move(*found)};
    },
    [self](
      const messages::keep_requested& x) -> caf::result<messages::part_kept> {
      if (auto done = keep(self->state.args, x.what); !done)
        return to_caf(done.error());
      return messages::part_kept{x.what.line, x.what.visit};
    },
    [self](const messages::drop_requested& x)
      -> caf::result<messages::parts_dropped> {
      if (auto done = self->state.args.arrived->drop(x.line, x.visits); !done)
        return to_caf(done.error());
      return messages::parts_dropped{x.line, x.visits};
    },
    [self](
      const messages::part_wanted& x) -> caf::result<messages::part_offered> {
      auto found = self->state.args.arrived->read(x.line, x.visit);
      if (!found)
        return to_caf(found.error());
      return std::move(*found);
    },
    [self](const messages::line_noted& x) {
      // A full disk shows at the next commit, which is where it matters.
      (void)self->state.args.books->note(x);
    },
  };
}

} // namespace troupe::actors
