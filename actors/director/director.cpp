#include "actors/director/director.hpp"

#include "actors/caf/errors.hpp"
#include "actors/record/events.hpp"
#include "actors/record/snapshot.hpp"

namespace troupe::actors {

namespace {

using director_pointer = director_impl::stateful_pointer<director_state>;

constexpr const char* director_part = "director";

instant now(director_pointer self) {
  return self->clock().now() - self->state.args.started;
}

void note(director_pointer self, const auto& x) {
  if (self->state.args.events)
    self->send(self->state.args.others->archivist,
               messages::line_noted{messages::line_noted::file::events,
                                    event_of(x, now(self))});
}

void carry_out(director_pointer self, const course::actions& what);

void carry_out(director_pointer self, const messages::invitation_made& x) {
  self->send(self->state.args.others->gateway, x);
}

void carry_out(director_pointer self, const messages::visit_withdrawn& x) {
  self->send(self->state.args.others->gateway, x);
}

void carry_out(director_pointer self, const messages::round_closed& x) {
  note(self, x);
  self->send(self->state.args.others->router, x);
}

void carry_out(director_pointer self, const messages::clients_admitted& x) {
  note(self, x);
  self->send(self->state.args.others->router, x);
}

void carry_out(director_pointer self, const messages::visit_dropped& x) {
  self->send(self->state.args.others->router, x);
}

void carry_out(director_pointer self, const messages::line_closing& x) {
  self->send(self->state.args.others->router, x);
}

void carry_out(director_pointer self, const course::skipped& x) {
  note(self, x.what);
}

void carry_out(director_pointer self, const messages::client_failed& x) {
  if (x.alone_until)
    note(self, x);
  self->send(self->state.args.others->publisher, x);
}

void carry_out(director_pointer self, const messages::round_counted& x) {
  self->send(self->state.args.others->publisher, x);
}

void carry_out(director_pointer self, const messages::client_began_anew& x) {
  note(self, x);
}

void carry_out(director_pointer self, const messages::run_finished& x) {
  note(self, x);
  self->send(self->state.args.others->publisher, x);
}

// Nothing that waits for it can happen before a save has succeeded, so it is
// repeated as it is until it does.
void carry_out(director_pointer self, const messages::save_requested& x) {
  const auto& args = self->state.args;
  self->request(args.others->archivist, args.waits.store, x)
    .then(
      [self](const messages::records_saved& done) {
        self->state.failure.clear();
        carry_out(self, self->state.plan->saved(done.token, now(self)));
      },
      [self, x](const caf::error& why) {
        self->state.failure = context_of(why);
        self->delayed_send(self, self->state.args.waits.retry_after, x);
      });
}

void arm(director_pointer self) {
  auto& armed = self->state.armed;
  const auto due = self->state.plan->next_due();
  const auto current = now(self);
  if (armed <= current)
    armed = instant::max();
  if (!due || armed <= *due)
    return;
  armed = std::max(*due, current);
  self->delayed_send(self, armed - current, caf::tick_atom_v);
}

void carry_out(director_pointer self, const course::actions& what) {
  for (const auto& action : what)
    std::visit([self](const auto& x) { carry_out(self, x); }, action);
  arm(self);
}

void begin(director_pointer self, director_args args) {
  auto& state = self->state;
  state.plan.emplace(args.options, args.found);
  state.used.emplace(*args.method, *args.blocks, args.groups,
                     std::move(args.asked));
  state.args = std::move(args);
  if (const auto& from = state.args.resumed) {
    restore(*from, director_part, *state.plan);
    arm(self);
  }
}

void tell(director_pointer self, const messages::status_asked& x) {
  auto status = self->state.plan->status(now(self));
  status.failure = self->state.failure;
  status.mailbox = self->mailbox().size();
  x.draft->add(status);
  x.draft->add(self->state.used->status());
}

} // namespace

director_impl::behavior_type director(director_pointer self,
                                      director_args args) {
  begin(self, std::move(args));
  auto& plan = self->state.plan;
  return {
    [self, &plan](const messages::client_joined& x) {
      carry_out(self, plan->joined(x, now(self)));
    },
    [self, &plan](const messages::client_left& x) {
      carry_out(self, plan->left(x, now(self)));
    },
    [self, &plan](const messages::part_taken& x) {
      carry_out(self, plan->taken(x, now(self)));
    },
    [self, &plan](const messages::visit_failed& x) {
      carry_out(self, plan->failed(x, now(self)));
    },
    [self](const messages::visit_loaded& x) { self->state.used->add(x); },
    [self, &plan](const messages::version_published& x) {
      carry_out(self, plan->published(x, now(self)));
    },
    [self, &plan](const messages::round_merged& x) {
      carry_out(self, plan->merged(x, now(self)));
    },
    [self, &plan](const messages::parts_lacked& x) {
      carry_out(self, plan->lacking(x, now(self)));
    },
    [self, &plan](const messages::line_ended& x) {
      carry_out(self, plan->ended(x, now(self)));
    },
    [self, &plan](const messages::line_failed& x) {
      carry_out(self, plan->finish({x.problem, true}, now(self)));
    },
    [self, &plan](const messages::evaluation_finished& x) {
      if (x.problem)
        return carry_out(self,
                         plan->finish({x.problem->context, true}, now(self)));
      const auto metric = models::metric_of(self->state.args.metric, x.scores);
      carry_out(self, plan->evaluated(x, metric, now(self)));
    },
    [self, &plan](const messages::stop_requested& x) {
      carry_out(self, plan->finish({x.reason}, now(self)));
    },
    [self](const messages::save_requested& x) { carry_out(self, x); },
    [&plan](const messages::state_asked& x) {
      if (!plan->at_rest())
        return x.draft->refuse();
      x.draft->add(director_part, *plan);
    },
    [self](const messages::status_asked& x) { tell(self, x); },
    [self, &plan](caf::tick_atom) {
      self->state.armed = instant::max();
      carry_out(self, plan->due(now(self)));
    },
  };
}

} // namespace troupe::actors
