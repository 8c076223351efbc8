#include "actors/client/client.hpp"

#include "actors/record/snapshot.hpp"
#include "core/limits.hpp"

namespace troupe::actors {

namespace {

using client_pointer = client_impl::stateful_pointer<client_actor_state>;

instant now(client_pointer self) {
  return self->clock().now() - self->state.args.started;
}

void carry_out(client_pointer self, const messages::any_message& x) {
  self->state.args.network->send({}, x);
}

void ask_for(client_pointer self, const virtual_life::work& x, instant due) {
  const auto& args = self->state.args;
  self->send(args.worker, messages::job_requested{.client = args.options.me,
                                                  .visit = visit_of(x),
                                                  .due = due,
                                                  .what = x});
}

void carry_out(client_pointer self, const dialogue::job& x) {
  ask_for(self, x.what, self->state.life->begin(x.what, now(self)));
}

void carry_out(client_pointer self, const dialogue::keep&) {
  const auto& args = self->state.args;
  const auto me = caf::actor_cast<client_impl>(self);
  self->state.keeping =
    !args.files->save(args.options.me, self->state.talk->file(),
                      [me] { caf::anon_send(me, caf::ok_atom_v); });
}

void arm(client_pointer self) {
  auto& armed = self->state.armed;
  const auto current = now(self);
  const auto due = self->state.talk->next_due();
  if (armed <= current)
    armed = instant::max();
  // What is due at the end of time never is, and would wait there.
  if (!due || armed <= *due || *due >= forever)
    return;
  armed = std::max(*due, current);
  self->delayed_send(self, armed - current, caf::tick_atom_v);
}

/// As far as what is kept is kept.
void go_through_queue(client_pointer self) {
  auto& state = self->state;
  while (!state.queued.empty() && !state.keeping) {
    const auto action = std::move(state.queued.front());
    state.queued.pop_front();
    std::visit([self](const auto& x) { carry_out(self, x); }, action);
  }
  const auto& last = state.talk->last_words();
  if (!last)
    return arm(self);
  if (!state.queued.empty() || state.keeping)
    return;
  const auto& args = self->state.args;
  if (args.left)
    args.left(args.options.me, *last);
  self->quit();
}

void carry_out(client_pointer self, const dialogue::actions& what) {
  auto& queued = self->state.queued;
  queued.insert(queued.end(), what.begin(), what.end());
  go_through_queue(self);
}

/// While its disk refuses, it hears and says no more than it can remember; what
/// is lost so is said again.
bool is_overwhelmed(client_pointer self) {
  return self->state.queued.size() >= limits::frames_per_client_max;
}

std::string part_of(client_id x) {
  return "client/" + std::to_string(x.value);
}

// What was not stored is gone.
void crash(client_pointer self) {
  auto& state = self->state;
  const auto found = state.args.files->load(state.args.options.me);
  state.talk.emplace(state.args.options, found ? *found : client_file{});
  state.queued.clear();
  state.life->crash();
}

dialogue::actions live_on(client_pointer self, policies::life_event what) {
  auto& state = self->state;
  switch (what) {
    case policies::life_event::come:
      state.greeted = true;
      return state.life->come() ? state.talk->start(now(self))
                                : state.talk->come(now(self));
    case policies::life_event::go:
      return state.life->is_down() ? dialogue::actions{} : state.talk->go();
    case policies::life_event::drain:
      return state.life->is_down() ? dialogue::actions{} : state.talk->drain();
    case policies::life_event::crash:
      crash(self);
  }
  return {};
}

// Jobs under way are computed again, and due when they were.
void go_on(client_pointer self, const snapshot& from) {
  auto& state = self->state;
  const auto me = state.args.options.me;
  restore(from, part_of(me), *state.talk, *state.life, state.greeted);
  state.args.files->save(me, state.talk->file(), [] {});
  for (const auto& [visit, work] : state.life->under_way())
    ask_for(self, work.second, work.first);
  if (!state.life->is_down())
    arm(self);
}

} // namespace

client_impl::behavior_type client(client_pointer self, client_args args) {
  auto found = args.files->load(args.options.me);
  self->state.talk.emplace(args.options, found ? *found : client_file{});
  self->state.args = std::move(args);
  self->state.life.emplace(self->state.args.life);
  if (const auto& from = self->state.args.resumed)
    go_on(self, *from);
  auto& talk = self->state.talk;
  auto& life = self->state.life;
  return {
    [self, &talk, &life](const transport::frame_arrived& x) {
      // A damaged frame is as good as a lost one: what it was is said again.
      const auto message = x.what.open();
      if (message && !life->is_down() && !is_overwhelmed(self))
        carry_out(self, talk->heard(**message, now(self)));
    },
    [self, &talk, &life](const messages::job_finished& x) {
      const auto what = life->end(x, now(self));
      if (what == virtual_life::fate::counts)
        carry_out(self, talk->finished(x, now(self)));
      else if (what == virtual_life::fate::drops_out)
        carry_out(self, talk->give_up(x.visit));
    },
    [self](const messages::life_changed& x) {
      carry_out(self, live_on(self, x.what));
    },
    [self](const messages::state_asked& x) {
      const auto& state = self->state;
      x.draft->add(part_of(state.args.options.me), *state.talk, *state.life,
                   state.greeted);
    },
    [self](caf::ok_atom) {
      self->state.keeping = false;
      go_through_queue(self);
    },
    [self, &talk, &life](caf::tick_atom) {
      self->state.armed = instant::max();
      if (life->is_down() || is_overwhelmed(self))
        return;
      if (!std::exchange(self->state.greeted, true))
        carry_out(self, talk->start(now(self)));
      else
        carry_out(self, talk->due(now(self)));
    },
  };
}

} // namespace troupe::actors
