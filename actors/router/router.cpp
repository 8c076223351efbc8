#include "actors/router/router.hpp"

#include "actors/metrics/status.hpp"

namespace troupe::actors {

using policies::verdict;

router_actor::behavior_type
router(router_actor::stateful_pointer<router_state> self, router_args args) {
  self->state.args = std::move(args);
  auto& lines = self->state.args.lines;
  auto& others = self->state.args.others;
  const auto to_all = [self, &lines](const auto& x) {
    for (const auto& [line, keepers] : lines)
      self->send(keepers.aggregator, x);
  };
  return {
    [self, &lines, &others](const messages::part_offered& x) {
      if (const auto found = lines.find(x.line); found != lines.end())
        return self->send(found->second.aggregator, x);
      self->send(others->gateway,
                 messages::part_answered{x.visit, x.line,
                                         verdict::unknown_expert, version{}});
      self->send(others->director,
                 messages::part_taken{x.visit, x.line, x.lines_total,
                                      verdict::unknown_expert, x.loss});
    },
    [self, &lines](const messages::part_awaited& x) {
      if (const auto found = lines.find(x.line); found != lines.end())
        self->send(found->second.aggregator, x);
    },
    [self, &lines, &others](const messages::serve_requested& x) {
      if (const auto found = lines.find(x.wanted.line); found != lines.end())
        return self->send(found->second.expert, x);
      self->send(others->gateway,
                 messages::visit_withdrawn{x.visit, verdict::unknown_expert});
      self->send(others->director,
                 messages::visit_failed{x.visit, verdict::unknown_expert});
    },
    [self, &lines](const messages::version_published& x) {
      if (const auto found = lines.find(x.line); found != lines.end())
        self->send(found->second.expert, x);
    },
    [to_all](const messages::round_closed& x) { to_all(x); },
    [to_all](const messages::clients_admitted& x) { to_all(x); },
    [to_all](const messages::visit_dropped& x) { to_all(x); },
    [to_all](const messages::line_closing& x) { to_all(x); },
    [self, &lines](const messages::status_asked& x) {
      x.draft->add_mailbox("router", self->mailbox().size());
      for (const auto& [line, keepers] : lines) {
        self->send(keepers.aggregator, x);
        self->send(keepers.expert, x);
      }
    },
    [self, &lines](const messages::state_asked& x) {
      for (const auto& [line, keepers] : lines) {
        self->send(keepers.aggregator, x);
        self->send(keepers.expert, x);
      }
    },
  };
}

} // namespace troupe::actors
