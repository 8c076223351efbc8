#include "node/run/plan.hpp"

#include <algorithm>

#include "actors/aggregator/line_rules.hpp"
#include "node/config/policies_of.hpp"
#include "node/run/rules.hpp"

namespace troupe::node {

namespace {

std::optional<policies::stop_rule> stop_of(const stop_options& x) {
  if (x.metric == stop_options::metric_kind::none)
    return std::nullopt;
  return policies::stop_rule{.better =
                               x.metric == stop_options::metric_kind::loss
                                 ? policies::goal::lowest
                                 : policies::goal::highest,
                             .target = x.target,
                             .patience = x.patience};
}

actors::course::options course_of(const experiment& x, const workload& w) {
  const auto& method = w.method;
  actors::course::options p{
    .mode = x.pace.mode,
    .lines = {},
    .lead = {},
    .clients_per_round = x.clients.clients_per_round,
    .over_selection = x.pace.over_selection,
    .quorum = x.pace.quorum,
    .round_deadline =
      x.pace.round_deadline > 0 ? from_seconds(x.pace.round_deadline) : forever,
    .concurrency = x.pace.concurrency,
    .refill_by_version = x.pace.refill == pace_options::refill_kind::version,
    .window = from_seconds(x.pace.window_seconds),
    .budget = {.rounds = x.length.rounds,
               .versions = x.length.versions,
               .updates = x.length.updates,
               .seconds = x.length.time_budget},
    .stop = stop_of(x.stop),
    .selection = {.seed = x.seed,
                  .window_size = x.clients.clients_per_round,
                  .how = selection_of(x.clients.selection),
                  .roles = method.roles},
    .state = method.state,
    .clients_expected =
      std::max<std::uint64_t>(1, policies::presence{w.life}.at_first().size()),
    // A model that has diverged comes back from nobody.
    .failures_max = std::max<std::uint64_t>(100, 10 * x.clients.invitable())};
  // Virtual devices neither die nor forget, however slow they are.
  if (is_virtual(x))
    p.visit_timeout = p.invitation_retry = forever;
  if (x.pace.visit_timeout > 0)
    p.visit_timeout = from_seconds(x.pace.visit_timeout);
  return p;
}

} // namespace

actors::node_args plan_of(const experiment& x, const workload& w) {
  actors::node_args args;
  args.blocks = w.blocks;
  args.method = &w.method;
  args.lines = std::make_shared<actors::line_rules>(line_rules_of(x));
  args.course = course_of(x, w);
  args.attendance = {.layout = w.blocks->fingerprint(),
                     .examples_max = x.merge.samples_max};
  args.weighting = x.clients.example_weight;
  args.norm_max = x.merge.clip_norm;
  args.metric = x.stop.metric == stop_options::metric_kind::loss
                  ? actors::stop_metric::loss
                  : actors::stop_metric::accuracy;
  args.evaluate_every = x.evaluate_every;
  args.evaluate_at_end = x.evaluate_every > 0;
  args.events = x.events;
  args.detached = !is_virtual(x);
  return args;
}

} // namespace troupe::node
