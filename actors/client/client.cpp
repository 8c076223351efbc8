#include "actors/client/client.hpp"

#include "actors/record/snapshot.hpp"

namespace troupe::actors {

namespace {

using self_pointer = client_impl::stateful_pointer<client_actor_state>;

instant now(self_pointer self) {
  return self->clock().now() - self->state.args.started;
}

void carry_out(self_pointer self, const messages::any_message& x) {
  self->state.args.network->send({}, x);
}

visit_id visit_of(const dialogue::job& x) {
  return std::visit([](const auto& y) { return y.input.visit; }, x.what);
}

void ask_for(self_pointer self, const dialogue::job& x, instant due) {
  const auto& args = self->state.args;
  self->send(args.worker, messages::job_requested{.client = args.options.me,
                                                  .visit = visit_of(x),
                                                  .due = due,
                                                  .what = x.what});
}

void carry_out(self_pointer self, const dialogue::job& x) {
  const auto& args = self->state.args;
  auto due = now(self);
  if (const auto* train = std::get_if<messages::train_job>(&x.what);
      train && args.duration)
    due += args.duration(train->input);
  if (args.duration) // Else it is a matter of this instant.
    self->state.jobs.insert_or_assign(visit_of(x), std::pair{due, x});
  ask_for(self, x, due);
}

void carry_out(self_pointer self, const dialogue::keep&) {
  const auto& args = self->state.args;
  args.files->save(args.options.me, self->state.talk->file());
}

void arm(self_pointer self) {
  auto& armed = self->state.armed;
  const auto current = now(self);
  const auto due = self->state.talk->next_due();
  if (armed <= current)
    armed = instant::max();
  if (!due || armed <= *due)
    return;
  armed = std::max(*due, current);
  self->delayed_send(self, armed - current, caf::tick_atom_v);
}

void carry_out(self_pointer self, const dialogue::actions& what) {
  for (const auto& action : what)
    std::visit([self](const auto& x) { carry_out(self, x); }, action);
  if (self->state.talk->has_left())
    self->quit();
  else
    arm(self);
}

std::string part_of(client_id x) {
  return "client/" + std::to_string(x.value);
}

// What was not stored is gone. Results under way are for nobody.
void crash(self_pointer self) {
  auto& state = self->state;
  const auto found = state.args.files->load(state.args.options.me);
  state.talk.emplace(state.args.options, found ? *found : client_file{});
  state.jobs.clear();
  state.down = true;
}

dialogue::actions live_on(self_pointer self, policies::life_event what) {
  auto& state = self->state;
  switch (what) {
    case policies::life_event::come:
      state.greeted = true;
      return std::exchange(state.down, false) ? state.talk->start(now(self))
                                              : state.talk->come(now(self));
    case policies::life_event::go:
      return state.down ? dialogue::actions{} : state.talk->go();
    case policies::life_event::drain:
      return state.down ? dialogue::actions{} : state.talk->drain();
    case policies::life_event::crash:
      crash(self);
  }
  return {};
}

enum class fate : std::uint8_t { stale, counts, drops_out };

// Under the virtual clock: a job that was asked for before a crash may be done
// while its visit is computed again.
fate fate_of(self_pointer self, const messages::job_finished& x) {
  auto& state = self->state;
  if (!state.args.duration)
    return state.down ? fate::stale : fate::counts;
  const auto found = state.jobs.find(x.visit);
  if (found == state.jobs.end() || found->second.first > now(self))
    return fate::stale;
  const auto job = std::move(found->second.second);
  state.jobs.erase(found);
  const auto* train = std::get_if<messages::train_job>(&job.what);
  return train && state.args.drops_out && state.args.drops_out(train->input)
           ? fate::drops_out
           : fate::counts;
}

// Jobs under way are computed again, and due when they were.
void go_on(self_pointer self, const snapshot& from) {
  auto& state = self->state;
  const auto me = state.args.options.me;
  restore(from, part_of(me), *state.talk, state.greeted, state.down,
          state.jobs);
  state.args.files->save(me, state.talk->file());
  for (const auto& [visit, job] : state.jobs)
    ask_for(self, job.second, job.first);
  if (!state.down)
    arm(self);
}

} // namespace

client_impl::behavior_type client(self_pointer self, client_args args) {
  auto found = args.files->load(args.options.me);
  self->state.talk.emplace(args.options, found ? *found : client_file{});
  self->state.args = std::move(args);
  self->state.down = self->state.args.absent;
  if (const auto& from = self->state.args.resumed)
    go_on(self, *from);
  else if (!self->state.down)
    self->send(self, caf::tick_atom_v); // Says hello.
  auto& talk = self->state.talk;
  return {
    [self, &talk](const messages::frame_arrived& x) {
      // A damaged frame is as good as a lost one: what it was is said again.
      if (const auto message = x.what.open(); message && !self->state.down)
        carry_out(self, talk->heard(**message, now(self)));
    },
    [self, &talk](const messages::job_finished& x) {
      const auto what = fate_of(self, x);
      if (what == fate::counts)
        carry_out(self, talk->finished(x, now(self)));
      else if (what == fate::drops_out)
        carry_out(self, talk->give_up(x.visit));
    },
    [self](const messages::life_changed& x) {
      carry_out(self, live_on(self, x.what));
    },
    [self](const messages::state_asked& x) {
      const auto& state = self->state;
      x.draft->add(part_of(state.args.options.me), *state.talk, state.greeted,
                   state.down, state.jobs);
    },
    [self, &talk](caf::tick_atom) {
      self->state.armed = instant::max();
      if (self->state.down)
        return;
      if (!std::exchange(self->state.greeted, true))
        carry_out(self, talk->start(now(self)));
      else
        carry_out(self, talk->due(now(self)));
    },
  };
}

} // namespace troupe::actors
