#include "actors/assessor/assessor.hpp"

#include <utility>

#include "actors/metrics/status.hpp"

namespace troupe::actors {

namespace {

using assessor_pointer = assessor_impl::stateful_pointer<assessor_state>;
using finished = messages::evaluation_finished;

instant now(assessor_pointer self) {
  return self->clock().now() - self->state.args.started;
}

bool is_open(assessor_pointer self, std::uint64_t question) {
  const auto& open = self->state.open;
  return open && open->what.question() == question;
}

void conclude(assessor_pointer self) {
  auto& open = self->state.open;
  if (!open || !open->what.is_over(now(self)))
    return;
  const auto& x = open->request;
  open->answer.deliver(open->what.take(x.line, x.head));
  open.reset();
}

void fail_with(assessor_pointer self, caf::error why) {
  self->state.open->answer.deliver(std::move(why));
  self->state.open.reset();
}

// One that is connected may be stopped, or gone without a word.
void look_for_silence(assessor_pointer self, std::uint64_t question) {
  if (!is_open(self, question))
    return;
  const auto& args = self->state.args;
  auto& open = *self->state.open;
  if (now(self) >= open.began + args.silence_max)
    open.what.spoke(args.spoke(args.silence_max));
  conclude(self);
  if (is_open(self, question))
    self->delayed_send(self, args.glance, caf::timeout_atom_v, question);
}

messages::scores_wanted question_of(const messages::evaluation_requested& x,
                                    std::uint64_t number) {
  messages::scores_wanted out{.question = number, .blocks = {}};
  for (const auto& y : x.input.versions)
    out.blocks.push_back({y.block, y.values});
  return out;
}

// Clients do not wait until the server has scored what is here.
void ask_clients(assessor_pointer self, std::uint64_t number) {
  const auto& args = self->state.args;
  const auto about = question_of(self->state.open->request, number);
  const auto hear = [self, number](const messages::scores_under_way& x) {
    if (!is_open(self, number))
      return;
    self->state.open->what.asked(x);
    conclude(self);
  };
  self->request(args.others->gateway, args.waits.scores, about)
    .then(hear, [hear, number](const caf::error&) {
      hear({.question = number, .asked = {}}); // Then nobody is here.
    });
}

// Who is held out has its rows here, and nobody else to ask.
void ask_evaluator(assessor_pointer self, std::uint64_t number) {
  const auto& args = self->state.args;
  auto here = self->state.open->request;
  here.input.per_client = false;
  self->request(args.evaluator, args.waits.evaluation, here)
    .then(
      [self, number](const finished& done) {
        if (!is_open(self, number))
          return;
        if (done.problem) {
          self->state.open->answer.deliver(done);
          return self->state.open.reset();
        }
        self->state.open->what.scored(done.scores);
        conclude(self);
      },
      [self, number](const caf::error& why) {
        if (is_open(self, number))
          fail_with(self, why);
      });
}

caf::result<finished> evaluate(assessor_pointer self,
                               const messages::evaluation_requested& x) {
  auto& state = self->state;
  if (!x.input.per_client)
    return self->delegate(state.args.evaluator, x);
  if (state.open)
    fail_with(self, caf::sec::request_receiver_down);
  const auto number = ++state.question;
  auto answer = self->make_response_promise<finished>();
  const auto wait = state.args.waits.scores;
  const auto began = now(self);
  state.open.emplace(
    assessor_state::open_case{inquest{number, began + wait}, x, began, answer});
  ask_clients(self, number);
  ask_evaluator(self, number);
  self->delayed_send(self, wait, caf::tick_atom_v);
  if (state.args.spoke)
    self->delayed_send(self, state.args.glance, caf::timeout_atom_v, number);
  return answer;
}

} // namespace

assessor_impl::behavior_type assessor(assessor_pointer self,
                                      assessor_args args) {
  self->state.question = args.first_question;
  self->state.args = std::move(args);
  return {
    [self](const messages::evaluation_requested& x) {
      return evaluate(self, x);
    },
    [self](const messages::scores_heard& x) {
      if (!self->state.open)
        return;
      self->state.open->what.heard(x);
      conclude(self);
    },
    [self](const messages::status_asked& x) {
      x.draft->add_mailbox("assessor", self->mailbox().size());
      self->send(self->state.args.evaluator, x);
    },
    [self](caf::tick_atom) { conclude(self); },
    [self](caf::timeout_atom, std::uint64_t question) {
      look_for_silence(self, question);
    },
  };
}

} // namespace troupe::actors
