#include "actors/world/world.hpp"

#include "actors/metrics/status.hpp"

namespace troupe::actors {

namespace {

using world_pointer = world_impl::stateful_pointer<world_state>;

constexpr const char* world_part = "world";

instant now(world_pointer self) {
  return self->clock().now() - self->state.args.started;
}

void arm(world_pointer self) {
  const auto due = self->state.who->next();
  auto& armed = self->state.armed;
  if (!due || armed <= *due)
    return;
  armed = *due;
  self->delayed_send(self, std::max(*due - now(self), instant{}),
                     caf::tick_atom_v);
}

void tell(world_pointer self, const std::vector<policies::life>& what) {
  for (const auto& x : what)
    self->send(self->state.args.clients.at(x.client),
               messages::life_changed{x.what});
  arm(self);
}

} // namespace

world_impl::behavior_type world(world_pointer self, world_args args) {
  self->state.who.emplace(args.options);
  self->state.args = std::move(args);
  if (const auto& from = self->state.args.resumed)
    restore(*from, world_part, *self->state.who);
  arm(self);
  return {
    [self](const messages::version_announced& x) {
      if (x.line == self->state.args.lead)
        tell(self, self->state.who->reached(x.head, now(self)));
    },
    [self](const messages::state_asked& x) {
      x.draft->add(world_part, *self->state.who);
    },
    [self](const messages::status_asked& x) {
      x.draft->add_mailbox("world", self->mailbox().size());
    },
    [self](caf::tick_atom) {
      self->state.armed = instant::max();
      tell(self, self->state.who->until(now(self)));
    },
  };
}

} // namespace troupe::actors
