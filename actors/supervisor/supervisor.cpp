#include "actors/supervisor/supervisor.hpp"

#include <chrono>
#include <exception>

#include <caf/all.hpp>

#include "actors/caf/messages.hpp"
#include "actors/metrics/status.hpp"

namespace troupe::actors {

namespace {

using supervisor_pointer = caf::stateful_actor<supervisor_state>*;

constexpr std::chrono::seconds again_after{1};

void end_children(supervisor_pointer self) {
  for (const auto& child : self->state.children)
    self->send_exit(child, caf::exit_reason::kill);
}

result<std::vector<caf::actor>> made_by(const supervisor_args& args) {
  try {
    return args.build();
  } catch (const std::exception& e) { // For want of memory, or of threads.
    return fail(errc::unavailable, e.what());
  }
}

void build(supervisor_pointer self) {
  auto made = made_by(self->state.args);
  if (!made) {
    // What is durable cannot be read now: a full disk may pass, and so may
    // what was thrown.
    if (self->state.args.broke)
      self->state.args.broke(made.error().context);
    self->delayed_send(self, again_after, caf::tick_atom_v);
    return;
  }
  self->state.children = std::move(*made);
  for (const auto& child : self->state.children) {
    self->state.alive.insert(child.address());
    self->monitor(child);
  }
}

void lost(supervisor_pointer self, const caf::down_msg& x) {
  auto& state = self->state;
  if (state.alive.erase(x.source) == 0)
    return;
  const bool first = state.alive.size() + 1 == state.children.size();
  if (first && !state.stopping) {
    if (state.args.broke)
      state.args.broke(self->system().render(x.reason));
    end_children(self);
  }
  if (!state.alive.empty())
    return;
  state.children.clear();
  if (state.stopping)
    self->quit();
  else
    build(self);
}

} // namespace

caf::behavior supervisor(supervisor_pointer self, supervisor_args args) {
  self->state.args = std::move(args);
  self->set_down_handler([self](const caf::down_msg& x) { lost(self, x); });
  self->set_exit_handler([self](const caf::exit_msg&) {
    self->state.stopping = true;
    end_children(self);
    if (self->state.alive.empty())
      self->quit();
  });
  build(self);
  return {
    [self](caf::tick_atom) {
      if (!self->state.stopping)
        build(self);
    },
    [self](const messages::status_asked& x) {
      x.draft->add_mailbox("supervisor", self->mailbox().size());
    },
  };
}

} // namespace troupe::actors
