#include "actors/roster/roster.hpp"

#include "actors/metrics/status.hpp"
#include "actors/record/snapshot.hpp"

namespace troupe::actors {

namespace {

using roster_pointer = roster_impl::stateful_pointer<roster_state>;

constexpr const char* roster_part = "roster";

instant now(roster_pointer self) {
  return self->clock().now() - self->state.args.started;
}

void look_again(roster_pointer self) {
  if (self->state.args.options.silence_max > instant{})
    self->delayed_send(self, self->state.args.look_every, caf::tick_atom_v);
}

} // namespace

roster_impl::behavior_type roster(roster_pointer self, roster_args args) {
  self->state.book.emplace(args.options);
  self->state.args = std::move(args);
  if (const auto& from = self->state.args.resumed)
    restore(*from, roster_part, *self->state.book);
  look_again(self);
  return {
    [self](const messages::hello_heard& x) {
      self->send(self->state.args.others->gateway,
                 self->state.book->judge(x, now(self)));
    },
    [self](const messages::beat_heard& x) {
      self->state.book->beat(x.client, now(self));
    },
    [self](const messages::client_left& x) {
      self->state.book->leave(x.client);
      self->send(self->state.args.others->director, x);
    },
    [self](const messages::state_asked& x) {
      x.draft->add(roster_part, *self->state.book);
    },
    [self](const messages::status_asked& x) {
      x.draft->add_mailbox("roster", self->mailbox().size());
    },
    [self](caf::tick_atom) {
      for (const auto client : self->state.book->lost(now(self))) {
        const messages::client_left lost{.client = client};
        self->send(self->state.args.others->gateway, lost);
        self->send(self->state.args.others->director, lost);
      }
      look_again(self);
    },
  };
}

} // namespace troupe::actors
