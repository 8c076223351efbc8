#include "node/run/plan.hpp"

#include <algorithm>

#include "actors/aggregator/line_rules.hpp"
#include "node/config/policies_of.hpp"
#include "node/run/rules.hpp"
#include "policies/mixing.hpp"

namespace troupe::node {

namespace {

std::optional<policies::stop_rule> stop_of(const stop_options& x) {
  const auto what = watched_of(x);
  if (!what)
    return std::nullopt;
  return policies::stop_rule{.better = models::less_is_better(*what)
                                         ? policies::goal::lowest
                                         : policies::goal::highest,
                             .target = x.target,
                             .patience = x.patience};
}

/// Ten times what a version takes: of a cohort, or of the buffers of all lines,
/// which fill each by itself.
std::uint64_t fruitless_max(const experiment& x, const workload& w) {
  const auto lines = std::max<std::uint64_t>(1, w.blocks->lines.size());
  switch (x.pace.mode) {
    case pace_kind::sync:
      return 10
             * policies::cohort_size(x.clients.clients_per_round,
                                     x.pace.over_selection);
    case pace_kind::semisync:
      return 10 * std::uint64_t{x.pace.concurrency};
    case pace_kind::fedbuff:
      return 10 * x.pace.buffer_size * lines;
    case pace_kind::fedasync:
      break;
  }
  return 10 * lines;
}

/// Of those who are there when the run begins.
std::uint64_t expected_of(const experiment& x, const workload& w) {
  const auto here =
    std::max<std::uint64_t>(1, policies::presence{w.life}.at_first().size());
  return x.clients.expected > 0
           ? std::min<std::uint64_t>(x.clients.expected, here)
           : here;
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
    .clients_expected = expected_of(x, w),
    .failures_max = x.clients.failures_max,
    .offers = method.offers,
    .batch = policies::batch_size(x.pace.mode, x.pace.buffer_size).value_or(0),
    .fruitless_max = fruitless_max(x, w)};
  if (is_virtual(x)) {
    p.strangers = false;
    // Virtual devices neither die nor forget, however slow they are.
    p.visit_timeout = p.invitation_first = p.invitation_retry = forever;
    // Where nineteen of twenty drop out there are still five versions of it.
    p.dropped_max = std::max<std::uint64_t>(1'000, 10 * p.fruitless_max);
  }
  if (!method.finish.value.empty())
    p.last_role = last_role(method);
  if (x.pace.visit_timeout > 0)
    p.visit_timeout = from_seconds(x.pace.visit_timeout);
  for (const auto& block : w.blocks->blocks)
    p.offers_needed =
      std::max(p.offers_needed, policies::offers_needed(block.merge));
  for (const auto& block : w.blocks->blocks)
    p.line_bytes[block.line] += block.size * sizeof(float);
  p.bytes_max = memory_of(x, *w.blocks);
  return p;
}

} // namespace

actors::node_args plan_of(const experiment& x, const workload& w) {
  actors::node_args args;
  args.blocks = w.blocks;
  args.method = &w.method;
  args.lines = std::make_shared<actors::line_rules>(line_rules_of(x));
  // The rest is for what is under way, and for the merge.
  args.offers_bytes_max = memory_of(x, *w.blocks) / 4;
  args.course = course_of(x, w);
  args.attendance = {.layout = w.blocks->fingerprint(),
                     .protocol = messages::protocol_of(w.blocks->rounds()),
                     .examples_max = x.merge.samples_max};
  args.weighting = x.clients.example_weight;
  args.norm_max = x.merge.clip_norm;
  args.groups = w.task ? w.task->groups : 0;
  args.metric = watched_of(x.stop).value_or(models::watched::accuracy);
  args.held_out = x.clients.held_out > 0;
  args.score_aside = watched_of(x.stop).has_value();
  args.evaluate_every = x.evaluate_every;
  args.evaluate_at_end = x.evaluate_every > 0;
  args.waits.scores = from_seconds(x.scores_seconds);
  // Where there are no rows here, theirs are all there are; where nobody
  // offers, nothing but what each client uses is scored.
  args.score_clients = w.method.personal || !w.method.offers
                       || of_clients(args.metric) || x.data.is_elsewhere();
  args.events = x.events;
  args.detached = !is_virtual(x);
  return args;
}

actors::node_args plan_from_afar(const experiment& x, const workload& w) {
  auto args = plan_of(x, w);
  if (x.clients.expected == 0)
    args.course.clients_expected = invited_together(x);
  args.attendance.silence_max = x.clients.silence_max > 0
                                  ? from_seconds(x.clients.silence_max)
                                  : instant{3 * beat_every};
  args.attendance.examples_of = [task = w.task](client_id who) {
    const auto& all = task->clients.train;
    return who.value <= all.size() ? std::uint64_t{all[who.value - 1].size()}
                                   : 0;
  };
  auto rules = *args.lines;
  rules.says_held = true;
  args.lines = std::make_shared<const actors::line_rules>(std::move(rules));
  args.outlived = true;
  return args;
}

} // namespace troupe::node
