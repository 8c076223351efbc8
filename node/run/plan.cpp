#include "node/run/plan.hpp"

#include <algorithm>
#include <set>
#include <thread>

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

actors::line_rules rules_of(const experiment& x) {
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
                                        const workload& w) {
  const auto& method = w.method;
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

std::uint64_t bytes_of(const models::fetched_block& x) {
  return x.values ? x.values->size() * sizeof(float) : 0;
}

std::uint64_t bytes_down(const models::visit_input& x) {
  std::uint64_t bytes = 0;
  for (const auto& y : x.fetched)
    bytes += bytes_of(y);
  return bytes;
}

/// An offer is taken to be as large as what was fetched; of a family with a
/// choice, as what was chosen.
std::uint64_t bytes_up(const models::visit_input& x,
                       const models::layout& blocks) {
  std::set<std::string_view> by_choice;
  for (const auto block : x.chosen)
    by_choice.insert(blocks.find(block)->family);
  std::uint64_t bytes = 0;
  for (const auto& y : x.fetched)
    if (!by_choice.contains(blocks.find(y.block)->family)
        || std::ranges::find(x.chosen, y.block) != x.chosen.end())
      bytes += bytes_of(y);
  return bytes;
}

} // namespace

actors::node_args plan_of(const experiment& x, const workload& w) {
  actors::node_args args;
  args.blocks = w.blocks;
  args.method = &w.method;
  args.lines = rules_of(x);
  args.programme = programme_of(x, w);
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

std::size_t worker_count(const experiment& x) {
  return x.workers > 0 ? x.workers
                       : std::max(1u, std::thread::hardware_concurrency());
}

std::function<instant(const models::visit_input&)>
durations_of(const experiment& x, const workload& w,
             std::shared_ptr<const models::trainer> steps) {
  return
    [devices = w.devices, links = x.network, seed = x.seed, blocks = w.blocks,
     offers = w.method.offers, steps](const models::visit_input& visit) {
      const auto client = visit.visit.client;
      const auto down = bytes_down(visit);
      const auto up = offers ? bytes_up(visit, *blocks) : 0;
      return from_seconds(
        policies::seconds_per_step(devices, seed, client)
          * static_cast<double>(steps->steps(visit))
        + policies::seconds_on_the_way(links, seed, client, down, up));
    };
}

std::function<bool(const models::visit_input&)>
drop_outs_of(const experiment& x) {
  if (x.devices.drop_out <= 0)
    return {};
  return [share = x.devices.drop_out](const models::visit_input& visit) {
    return random_stream{derive_seed(visit.seed, "drop_out")}.chance(share);
  };
}

} // namespace troupe::node
