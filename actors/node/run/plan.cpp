#include "actors/node/run/plan.hpp"

#include <algorithm>

#include "policies/devices.hpp"

namespace troupe::node {

namespace {

/// Longer than any run.
constexpr instant forever = std::chrono::hours{24 * 365 * 100};

bool is_virtual(const experiment& x) {
  return x.clock == clock_kind::virtual_time;
}

/// Where the configuration sets no limit, what the slowest tenth of a fleet
/// that differs tenfold still keeps; a version is kept for as long as that.
std::uint64_t staleness_max(const experiment& x) {
  if (x.pace.staleness_max)
    return *x.pace.staleness_max;
  const std::uint64_t batch =
    x.pace.mode == pace_kind::fedbuff ? x.pace.buffer_size : 1;
  return 16 * (1 + (x.pace.concurrency + batch - 1) / batch);
}

line_rules rules_of(const experiment& x) {
  return {.admission = {.staleness_max = staleness_max(x),
                        .pending_max = limits::pending_offers_max},
          .discount = x.pace.staleness.discount(),
          .step = x.server,
          .buffer_size =
            policies::batch_size(x.pace.mode, x.pace.buffer_size).value_or(1),
          .target_is_model =
            x.pace.mode == pace_kind::fedasync
            && x.pace.async_target == pace_options::target_kind::model};
}

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

actors::programme::options programme_of(const experiment& x,
                                        const recipe& method) {
  actors::programme::options p{
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
                  .how = x.clients.selection.policy(),
                  .roles = method.roles},
    .state = method.state,
    .clients_expected = x.clients.invitable(),
    // A model that has diverged comes back from nobody.
    .failures_max = std::max<std::uint64_t>(100, 10 * x.clients.invitable())};
  // Virtual devices neither die nor forget, however slow they are.
  if (is_virtual(x))
    p.visit_timeout = p.invitation_retry = forever;
  return p;
}

} // namespace

node_args plan_of(const experiment& x, const workload& w) {
  node_args args;
  args.blocks = w.blocks;
  args.method = &w.method;
  args.lines = rules_of(x);
  args.programme = programme_of(x, w.method);
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

actors::client_args client_of(const experiment& x, const workload& w,
                              client_id who) {
  actors::client_args args;
  args.options = {.me = who,
                  .examples = w.examples(who),
                  .method = &w.method,
                  .blocks = w.blocks,
                  // Within a process nothing is lost: a resend is for the rare
                  // answer `overloaded`.
                  .resend_after =
                    is_virtual(x) ? forever : instant{std::chrono::minutes{1}}};
  return args;
}

std::function<instant(const models::visit_input&)>
durations_of(const experiment& x,
             std::shared_ptr<const models::trainer> steps) {
  const policies::fleet devices{x.devices.seconds_per_step,
                                x.devices.speed.how()};
  return [devices, seed = x.seed, steps](const models::visit_input& visit) {
    const auto each =
      policies::seconds_per_step(devices, seed, visit.visit.client);
    return from_seconds(each * static_cast<double>(steps->steps(visit)));
  };
}

} // namespace troupe::node
