#include "actors/publisher/publisher.hpp"

#include <algorithm>
#include <utility>

#include "actors/caf/errors.hpp"
#include "actors/metrics/status.hpp"

namespace troupe::actors {

namespace {

using publisher_pointer = publisher_impl::stateful_pointer<publisher_state>;

instant now(publisher_pointer self) {
  return self->clock().now() - self->state.args.started;
}

messages::evaluation_requested question(publisher_pointer self,
                                        const publisher_state::occasion& what,
                                        bool per_client) {
  messages::evaluation_requested x{
    .line = what.line,
    .head = what.head,
    .input = {.versions = {},
              .per_client = per_client,
              .states = {},
              .held_out = self->state.args.held_out,
              .aside = self->state.args.score_aside || self->state.ending}};
  for (const auto& [id, published] : self->state.args.heads)
    for (const auto& block : published.blocks)
      x.input.versions.push_back({block.block, published.head, block.values});
  return x;
}

/// Of the lead line, or of the one that has come furthest.
publisher_state::occasion newest(const publisher_args& x,
                                 std::uint64_t rounds) {
  const auto found =
    x.lead ? x.heads.find(*x.lead)
           : std::ranges::max_element(
             x.heads, {}, [](const auto& y) { return y.second.head; });
  return {found->first, found->second.head, x.offers ? 0 : rounds};
}

/// The evaluator knows of no rounds.
messages::evaluation_finished said_of(const publisher_state::occasion& what,
                                      messages::evaluation_finished done) {
  done.rounds = what.rounds;
  return done;
}

/// Clients hear of the end when they are asked nothing any more.
void end(publisher_pointer self,
         const std::optional<messages::evaluation_finished>& last) {
  const auto& args = self->state.args;
  const auto& why = *self->state.ending;
  if (args.others->assessor)
    self->send(args.others->gateway, why);
  args.watching->finished(why, last, now(self));
}

// What the run ends with, client by client.
void evaluate_last(publisher_pointer self) {
  const auto& args = self->state.args;
  const auto what =
    newest(args, std::max(self->state.rounds, self->state.ending->rounds));
  self
    ->request(args.others->evaluator, args.waits.evaluation,
              question(self, what, true))
    .then(
      [self, what](const messages::evaluation_finished& done) {
        end(self, said_of(what, done));
      },
      [self](const caf::error&) { end(self, std::nullopt); });
}

// Of all lines as they are now.
void evaluate(publisher_pointer self) {
  const auto& args = self->state.args;
  const auto what = *std::exchange(self->state.due, std::nullopt);
  const auto go_on = [self] {
    self->state.under_way = false;
    if (self->state.due)
      evaluate(self);
    else if (self->state.ending)
      evaluate_last(self);
  };
  self->state.under_way = true;
  self
    ->request(args.others->evaluator, args.waits.evaluation,
              question(self, what, args.score_clients))
    .then(
      [self, go_on, what,
       scored = args.heads](const messages::evaluation_finished& done) {
        self->state.args.watching->evaluated(said_of(what, done), scored,
                                             now(self));
        self->send(self->state.args.others->director, done);
        go_on();
      },
      [go_on](const caf::error&) {
        go_on(); // The worker is gone; the next version is another occasion.
      });
}

// Other lines may have a version of this instant that is still on its way.
void note_occasion(publisher_pointer self, const publisher_state::occasion& x) {
  auto& state = self->state;
  auto& due = state.due;
  if (due && due->line == x.line)
    state.args.watching->left_out(due->head, now(self));
  if (!due || due->head <= x.head)
    due = x;
  if (state.armed || state.under_way)
    return;
  state.armed = true;
  self->delayed_send(self, std::chrono::seconds{0}, caf::tick_atom_v);
}

bool is_occasion(const publisher_args& x, std::uint64_t count) {
  return x.evaluate_every > 0 && count % x.evaluate_every == 0;
}

void consider(publisher_pointer self, const messages::version_published& x) {
  const auto& args = self->state.args;
  const bool counts = !args.lead || *args.lead == x.line;
  if (counts && is_occasion(args, x.head.value))
    note_occasion(self, {x.line, x.head});
}

// A director that began again counts visits from zero, and may say its last
// round once more.
void consider(publisher_pointer self, const messages::round_counted& x) {
  auto& state = self->state;
  const auto& args = state.args;
  const auto rounds = x.rounds + (x.is_of_visits ? state.scored_before : 0);
  if (args.offers || args.heads.empty() || rounds <= state.rounds)
    return;
  state.rounds = rounds;
  if (is_occasion(args, rounds))
    note_occasion(self, newest(args, rounds));
}

void finish(publisher_pointer self, const messages::run_finished& x) {
  const auto& args = self->state.args;
  self->state.ending = x;
  if (!args.others->assessor)
    self->send(args.others->gateway, x);
  if (!args.evaluate_at_end || args.heads.empty())
    return end(self, std::nullopt);
  if (self->state.under_way)
    return; // Then what is due, then the last.
  if (self->state.due)
    evaluate(self);
  else
    evaluate_last(self);
}

} // namespace

publisher_impl::behavior_type publisher(publisher_pointer self,
                                        publisher_args args) {
  self->state.args = std::move(args);
  self->state.scored_before = self->state.rounds =
    self->state.args.watching->rounds_scored();
  return {
    [self](const messages::version_published& x) {
      auto& args = self->state.args;
      args.heads[x.line] = x;
      args.watching->published(x, now(self));
      self->send(args.others->gateway,
                 messages::version_announced{x.line, x.head});
      consider(self, x);
    },
    [self](const messages::client_failed& x) {
      self->state.args.watching->failed(x, now(self));
    },
    [self](const messages::round_counted& x) {
      if (!x.is_of_visits)
        self->state.args.watching->counted(x, now(self));
      consider(self, x);
    },
    [self](const messages::run_finished& x) { finish(self, x); },
    [self](const messages::status_asked& x) {
      x.draft->add_mailbox("publisher", self->mailbox().size());
    },
    [self](caf::tick_atom) {
      self->state.armed = false;
      if (self->state.due && !self->state.under_way)
        evaluate(self);
    },
  };
}

} // namespace troupe::actors
