#include "actors/aggregator/aggregator.hpp"

#include <utility>

#include "actors/caf/errors.hpp"
#include "actors/record/snapshot.hpp"

namespace troupe::actors {

namespace {

using aggregator_pointer = aggregator_impl::stateful_pointer<aggregator_state>;

void tell(aggregator_pointer self, const messages::part_answered& x) {
  self->send(self->state.args.others->gateway, x);
}

void tell(aggregator_pointer self, const messages::part_held& x) {
  self->send(self->state.args.others->gateway, x);
}

void tell(aggregator_pointer self, const messages::part_taken& x) {
  self->send(self->state.args.others->director, x);
}

void tell(aggregator_pointer self, const messages::round_merged& x) {
  self->send(self->state.args.others->director, x);
}

void tell(aggregator_pointer self, const messages::parts_lacked& x) {
  self->send(self->state.args.others->director, x);
}

void tell(aggregator_pointer self, const messages::line_ended& x) {
  self->send(self->state.args.others->director, x);
}

void tell(aggregator_pointer self, const messages::version_published& x) {
  // The expert first: who hears of a version may come and fetch it.
  self->send(self->state.args.others->router, x);
  self->send(self->state.args.others->publisher, x);
  self->send(self->state.args.others->director, x);
}

void tell(aggregator_pointer self, const messages::keep_requested& x);
void tell(aggregator_pointer self, const messages::drop_requested& x);

/// The ledger, at this time. A turn begins with it; what else the turn does
/// takes none, and the clock is not read again.
ledger& book(aggregator_pointer self) {
  self->state.book->pass(steady_now());
  return *self->state.book;
}

void speak(aggregator_pointer self) {
  for (const auto& notice : self->state.book->take_notices())
    std::visit([self](const auto& x) { tell(self, x); }, notice);
}

// The worker or the archivist is down or too slow. Nothing is lost, but nobody
// else will remind us: once `pending_max` is reached, every offer is refused.
void retry_later(aggregator_pointer self, const caf::error& why) {
  self->state.failure = context_of(why);
  book(self).failed();
  speak(self);
  self->delayed_send(self, self->state.args.waits.retry_after,
                     caf::tick_atom_v);
}

void proceed(aggregator_pointer self);

std::uint64_t bytes_in(const messages::merge_requested& x) {
  std::uint64_t count = 0;
  for (const auto& block : x.blocks)
    for (const auto& term : block.terms)
      count +=
        (term.delta ? term.delta->size() : block.base->size()) * sizeof(float);
  return count;
}

void took(duration_counts& sum, instant since) {
  sum.add(seconds(steady_now() - since));
}

void request(aggregator_pointer self, const messages::merge_requested& x) {
  const auto& args = self->state.args;
  self->request(args.others->merger, args.waits.merge, x)
    .then(
      [self, bytes = bytes_in(x),
       asked = steady_now()](const messages::merge_finished& result) {
        took(self->state.merges, asked);
        self->state.merged_bytes += bytes;
        self->state.failure.clear();
        book(self).merged(result);
        proceed(self);
      },
      [self](const caf::error& what) {
        // The same numbers would come out again: the run is told where it
        // broke.
        if (is(what, errc::diverged))
          self->send(self->state.args.others->director,
                     messages::line_failed{self->state.args.options.line,
                                           context_of(what)});
        retry_later(self, what);
      });
}

void request(aggregator_pointer self, const messages::commit_requested& x) {
  const auto& args = self->state.args;
  self->request(args.others->archivist, args.waits.store, x)
    .then(
      [self, asked = steady_now()](const messages::version_committed&) {
        took(self->state.commits, asked);
        self->state.failure.clear();
        book(self).committed();
        proceed(self);
      },
      [self](const caf::error& what) { retry_later(self, what); });
}

void request(aggregator_pointer self, const messages::version_wanted& x) {
  const auto& args = self->state.args;
  self->request(args.others->archivist, args.waits.store, x)
    .then(
      [self, x](const messages::version_read& done) {
        self->state.failure.clear();
        book(self).found(x, done);
        proceed(self);
      },
      [self](const caf::error& what) { retry_later(self, what); });
}

void request(aggregator_pointer self, const messages::part_wanted& x) {
  const auto& args = self->state.args;
  self->request(args.others->archivist, args.waits.store, x)
    .then(
      [self](const messages::part_offered& found) {
        self->state.failure.clear();
        book(self).found(found);
        proceed(self);
      },
      [self](const caf::error& what) { retry_later(self, what); });
}

void tell(aggregator_pointer self, const messages::keep_requested& x) {
  const auto& args = self->state.args;
  self->request(args.others->archivist, args.waits.store, x)
    .then(
      [self](const messages::part_kept& done) {
        self->state.unkept.clear();
        book(self).kept(done.visit);
        proceed(self);
      },
      [self, visit = x.what.visit](const caf::error& what) {
        self->state.unkept = context_of(what);
        book(self).not_kept(visit);
        proceed(self);
      });
}

void tell(aggregator_pointer self, const messages::drop_requested& x) {
  const auto& args = self->state.args;
  self->request(args.others->archivist, args.waits.store, x)
    .then(
      [self](const messages::parts_dropped& done) {
        book(self).dropped(done.visits);
        speak(self);
      },
      [self, visits = x.visits](const caf::error& what) {
        self->state.unkept = context_of(what);
        book(self).not_dropped(visits);
        self->delayed_send(self, self->state.args.waits.retry_after,
                           caf::tick_atom_v);
      });
}

void proceed(aggregator_pointer self) {
  if (const auto due = self->state.book->next())
    std::visit([self](const auto& x) { request(self, x); }, *due);
  speak(self);
}

} // namespace

aggregator_impl::behavior_type aggregator(aggregator_pointer self,
                                          aggregator_args args) {
  // Who kept it here would hold the first version for as long as the run.
  self->state.book.emplace(args.options, std::move(args.found));
  self->state.args = std::move(args);
  const auto part =
    "line/" + std::to_string(self->state.args.options.line.value) + "/writer";
  if (const auto& from = self->state.args.resumed)
    restore(*from, part, book(self));
  book(self).take_up(std::exchange(self->state.args.arrived, {}));
  return {
    [self](const messages::part_offered& x) {
      book(self).offer(x);
      proceed(self);
    },
    [self](const messages::part_awaited& x) {
      book(self).await(x.visit);
      speak(self);
    },
    [self](const messages::round_closed& x) {
      book(self).close(x);
      proceed(self);
    },
    [self](const messages::clients_admitted& x) {
      book(self).admitted(x.count);
    },
    [self](const messages::visit_dropped& x) {
      book(self).drop(x.visit);
      speak(self);
    },
    [self](const messages::line_closing&) {
      book(self).end();
      proceed(self);
    },
    [self, part](const messages::state_asked& x) {
      if (!book(self).idle())
        return x.draft->refuse();
      x.draft->add(part, book(self));
    },
    [self](const messages::status_asked& x) {
      auto status = book(self).status();
      status.mailbox = self->mailbox().size();
      status.merges = self->state.merges;
      status.commits = self->state.commits;
      status.merged_bytes = self->state.merged_bytes;
      status.failure = self->state.failure;
      status.unkept = self->state.unkept;
      x.draft->add(self->state.args.options.line, status);
    },
    [self](caf::tick_atom) {
      book(self).drop_again();
      proceed(self);
    },
  };
}

} // namespace troupe::actors
