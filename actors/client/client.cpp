#include "actors/client/client.hpp"

namespace troupe::actors {

namespace {

using self_pointer = client_impl::stateful_pointer<client_actor_state>;

instant now(self_pointer self) {
  return self->clock().now() - self->state.args.started;
}

void carry_out(self_pointer self, const messages::any_message& x) {
  self->state.args.network->send({}, x);
}

void carry_out(self_pointer self, const dialogue::job& x) {
  const auto& args = self->state.args;
  messages::job_requested job{
    .client = args.options.me, .visit = {}, .due = now(self), .what = x.what};
  if (const auto* train = std::get_if<messages::train_job>(&x.what)) {
    job.visit = train->input.visit;
    if (args.duration)
      job.due += args.duration(train->input);
  } else {
    job.visit = std::get<messages::choose_job>(x.what).input.visit;
  }
  self->send(args.worker, std::move(job));
}

void carry_out(self_pointer self, const dialogue::keep&) {
  const auto& args = self->state.args;
  args.files->save(args.options.me, self->state.talk->file());
}

void arm(self_pointer self) {
  auto& [args, talk, greeted, armed] = self->state;
  const auto current = now(self);
  const auto due = talk->next_due();
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

} // namespace

client_impl::behavior_type client(self_pointer self, client_args args) {
  auto found = args.files->load(args.options.me);
  self->state.talk.emplace(args.options, found ? *found : client_file{});
  self->state.args = std::move(args);
  self->send(self, caf::tick_atom_v); // Says hello.
  auto& talk = self->state.talk;
  return {
    [self, &talk](const messages::frame_arrived& x) {
      // A damaged frame is as good as a lost one: what it was is said again.
      if (const auto message = x.what.open())
        carry_out(self, talk->heard(**message, now(self)));
    },
    [self, &talk](const messages::job_finished& x) {
      carry_out(self, talk->finished(x, now(self)));
    },
    [self, &talk](caf::tick_atom) {
      self->state.armed = instant::max();
      if (!std::exchange(self->state.greeted, true))
        carry_out(self, talk->start(now(self)));
      else
        carry_out(self, talk->due(now(self)));
    },
  };
}

} // namespace troupe::actors
