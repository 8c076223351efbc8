#include "actors/aggregator/aggregator.hpp"

#include "actors/archivist/snapshot.hpp"
#include "actors/caf/errors.hpp"

namespace troupe::actors {

namespace {

using self_pointer = aggregator_impl::stateful_pointer<aggregator_state>;

void tell(self_pointer self, const messages::part_answered& x) {
  self->send(self->state.args.others->gateway, x);
}

void tell(self_pointer self, const messages::part_taken& x) {
  self->send(self->state.args.others->director, x);
}

void tell(self_pointer self, const messages::round_merged& x) {
  self->send(self->state.args.others->director, x);
}

void tell(self_pointer self, const messages::line_ended& x) {
  self->send(self->state.args.others->director, x);
}

void tell(self_pointer self, const messages::version_published& x) {
  // The expert first: who hears of a version may come and fetch it.
  self->send(self->state.args.others->router, x);
  self->send(self->state.args.others->publisher, x);
  self->send(self->state.args.others->director, x);
}

void speak(self_pointer self) {
  for (const auto& notice : self->state.book->take_notices())
    std::visit([self](const auto& x) { tell(self, x); }, notice);
}

// Before the number of pending offers changes: adds up how long they have
// waited all together, without a list of who came when.
void count_waiting(self_pointer self) {
  const auto now = steady_now();
  const auto pending = static_cast<double>(self->state.book->pending());
  self->state.waits.seconds += pending * seconds(now - self->state.counted);
  self->state.counted = now;
}

// The worker or the archivist is down or too slow. Nothing is lost, but nobody
// else will remind us: once `pending_max` is reached, every offer is refused.
void retry_later(self_pointer self, const caf::error& why) {
  self->state.failure = context_of(why);
  count_waiting(self);
  self->state.book->failed();
  speak(self);
  self->delayed_send(self, self->state.args.retry_after, caf::tick_atom_v);
}

void proceed(self_pointer self);

std::uint64_t bytes_in(const messages::merge_requested& x) {
  std::uint64_t count = 0;
  for (const auto& block : x.blocks)
    for (const auto& term : block.terms)
      count += term.delta->size() * sizeof(float);
  return count;
}

void took(duration_sum& sum, instant since) {
  sum.add(seconds(steady_now() - since));
}

void request(self_pointer self, const messages::merge_requested& x) {
  const auto& args = self->state.args;
  self->request(args.others->merger, args.merge_timeout, x)
    .then(
      [self, bytes = bytes_in(x),
       asked = steady_now()](const messages::merge_finished& result) {
        took(self->state.merges, asked);
        self->state.merged_bytes += bytes;
        self->state.failure.clear();
        self->state.book->merged(result);
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

void request(self_pointer self, const messages::commit_requested& x) {
  const auto& args = self->state.args;
  self->request(args.others->archivist, args.commit_timeout, x)
    .then(
      [self, asked = steady_now()](const messages::version_committed&) {
        took(self->state.commits, asked);
        self->state.failure.clear();
        self->state.book->committed();
        proceed(self);
      },
      [self](const caf::error& what) { retry_later(self, what); });
}

void proceed(self_pointer self) {
  count_waiting(self);
  const auto waited = self->state.book->pending();
  const auto due = self->state.book->next();
  self->state.waits.count += waited - self->state.book->pending();
  if (due)
    std::visit([self](const auto& x) { request(self, x); }, *due);
  speak(self);
}

} // namespace

aggregator_impl::behavior_type aggregator(self_pointer self,
                                          aggregator_args args) {
  self->state.book.emplace(args.options, args.found);
  self->state.args = std::move(args);
  const auto part =
    "line/" + std::to_string(self->state.args.options.line.value) + "/writer";
  if (const auto& from = self->state.args.resumed)
    restore(*from, part, *self->state.book);
  return {
    [self](const messages::part_offered& x) {
      count_waiting(self);
      self->state.book->offer(x);
      proceed(self);
    },
    [self](const messages::round_closed& x) {
      self->state.book->close(x);
      proceed(self);
    },
    [self](const messages::clients_admitted& x) {
      self->state.book->admitted(x.count);
    },
    [self](const messages::visit_dropped& x) {
      count_waiting(self);
      self->state.book->drop(x.visit);
      speak(self);
    },
    [self](const messages::line_closing&) {
      count_waiting(self);
      self->state.book->end();
      proceed(self);
    },
    [self, part](const messages::state_asked& x) {
      if (!self->state.book->idle())
        return x.draft->refuse();
      x.draft->add(part, *self->state.book);
    },
    [self](const messages::status_asked& x) {
      auto status = self->state.book->status();
      count_waiting(self);
      status.waits = self->state.waits;
      status.mailbox = self->mailbox().size();
      status.merges = self->state.merges;
      status.commits = self->state.commits;
      status.merged_bytes = self->state.merged_bytes;
      status.failure = self->state.failure;
      x.draft->add(self->state.args.options.line, status);
    },
    [self](caf::tick_atom) { proceed(self); },
  };
}

} // namespace troupe::actors
