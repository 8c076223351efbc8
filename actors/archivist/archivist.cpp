#include "actors/archivist/archivist.hpp"

#include "actors/caf/errors.hpp"
#include "actors/record/events.hpp"
#include "core/clock.hpp"

namespace troupe::actors {

namespace {

using archivist_pointer = archivist_actor::stateful_pointer<archivist_state>;

/// Counts how long it takes.
auto timed(archivist_pointer self, storage_task what, const auto& work) {
  const auto began = steady_now();
  auto out = work();
  self->state.times[static_cast<std::size_t>(what)].add(
    seconds(steady_now() - began));
  return out;
}

// Here and not by somebody who hears of it: what anybody does with a version
// comes after it in the record. And before the commit, with which it becomes
// durable.
void note(archivist_pointer self, const messages::commit_requested& x) {
  const auto& args = self->state.args;
  auto& noted = self->state.noted[x.line];
  if (!args.events || noted == x.head)
    return; // A commit may be asked for again.
  noted = x.head;
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

// A full disk shows at the next commit, which is where it matters.
void append(archivist_pointer self, const messages::line_noted& x) {
  (void)timed(self, storage_task::note,
              [&] { return self->state.args.books->note(x); });
}

void tell(archivist_pointer self, const messages::status_asked& x) {
  x.draft->add(self->state.times);
  x.draft->add_mailbox("archivist", self->mailbox().size());
}

} // namespace

archivist_actor::behavior_type archivist(archivist_pointer self,
                                         archivist_args args) {
  self->state.args = std::move(args);
  return {
    [self](const messages::commit_requested& x)
      -> caf::result<messages::version_committed> {
      note(self, x);
      const auto commit = [&] { return self->state.args.books->commit(x); };
      if (auto done = timed(self, storage_task::commit, commit); !done)
        return to_caf(done.error());
      return messages::version_committed{x.line, x.head};
    },
    [self](const messages::save_requested& x)
      -> caf::result<messages::records_saved> {
      const auto save = [&] { return self->state.args.books->save(x); };
      if (auto done = timed(self, storage_task::save, save); !done)
        return to_caf(done.error());
      return messages::records_saved{x.token};
    },
    [self](const messages::version_wanted& x)
      -> caf::result<messages::version_read> {
      auto found = timed(self, storage_task::read,
                         [&] { return self->state.args.books->read(x); });
      if (!found)
        return to_caf(found.error());
      return messages::version_read{std::move(*found)};
    },
    [self](
      const messages::keep_requested& x) -> caf::result<messages::part_kept> {
      const auto work = [&] { return keep(self->state.args, x.what); };
      if (auto done = timed(self, storage_task::keep, work); !done)
        return to_caf(done.error());
      return messages::part_kept{x.what.line, x.what.visit};
    },
    [self](const messages::drop_requested& x)
      -> caf::result<messages::parts_dropped> {
      const auto drop = [&] {
        return self->state.args.arrived->drop(x.line, x.visits);
      };
      if (auto done = timed(self, storage_task::drop, drop); !done)
        return to_caf(done.error());
      return messages::parts_dropped{x.line, x.visits};
    },
    [self](
      const messages::part_wanted& x) -> caf::result<messages::part_offered> {
      auto found = timed(self, storage_task::read, [&] {
        return self->state.args.arrived->read(x.line, x.visit);
      });
      if (!found)
        return to_caf(found.error());
      return std::move(*found);
    },
    [self](const messages::line_noted& x) { append(self, x); },
    [self](const messages::status_asked& x) { tell(self, x); },
  };
}

} // namespace troupe::actors
