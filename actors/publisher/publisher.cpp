#include "actors/publisher/publisher.hpp"

#include "actors/caf/errors.hpp"

namespace troupe::actors {

namespace {

using self_pointer = publisher_actor::stateful_pointer<publisher_state>;

instant now(self_pointer self) {
  return self->clock().now() - self->state.args.started;
}

messages::evaluation_requested occasion(self_pointer self, line_id line,
                                        version head, bool per_client) {
  messages::evaluation_requested x{
    .line = line,
    .head = head,
    .input = {.versions = {}, .per_client = per_client, .states = {}}};
  for (const auto& [id, published] : self->state.args.heads)
    for (const auto& block : published.blocks)
      x.input.versions.push_back({block.block, published.head, block.values});
  return x;
}

void evaluate(self_pointer self, const messages::version_published& x) {
  const auto& args = self->state.args;
  const bool counts = !args.lead || *args.lead == x.line;
  if (args.evaluate_every == 0 || !counts || x.head.value % args.evaluate_every)
    return;
  self
    ->request(args.others->evaluator, args.waits.evaluation,
              occasion(self, x.line, x.head, false))
    .then(
      [self](const messages::evaluation_finished& done) {
        self->state.args.watching->evaluated(done, now(self));
        self->send(self->state.args.others->director, done);
      },
      [](const caf::error&) {
        // The worker is gone; the next version is another occasion.
      });
}

void finish(self_pointer self, const messages::run_finished& x) {
  const auto& args = self->state.args;
  self->send(args.others->gateway, x);
  if (!args.evaluate_at_end || args.heads.empty())
    return args.watching->finished(x, std::nullopt, now(self));
  const auto& [line, last] = *args.heads.begin();
  self
    ->request(args.others->evaluator, args.waits.evaluation,
              occasion(self, args.lead.value_or(line), last.head, true))
    .then(
      [self, x](const messages::evaluation_finished& done) {
        self->state.args.watching->finished(x, done, now(self));
      },
      [self, x](const caf::error&) {
        self->state.args.watching->finished(x, std::nullopt, now(self));
      });
}

} // namespace

publisher_actor::behavior_type publisher(self_pointer self,
                                         publisher_args args) {
  self->state.args = std::move(args);
  return {
    [self](const messages::version_published& x) {
      auto& args = self->state.args;
      args.heads[x.line] = x;
      args.watching->published(x, now(self));
      self->send(args.others->gateway,
                 messages::version_announced{x.line, x.head});
      evaluate(self, x);
    },
    [self](const messages::client_failed& x) {
      self->state.args.watching->failed(x, now(self));
    },
    [self](const messages::run_finished& x) { finish(self, x); },
  };
}

} // namespace troupe::actors
