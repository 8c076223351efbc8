#include "node/run/rules.hpp"

#include <algorithm>
#include <thread>

#include "actors/aggregator/line_rules.hpp"
#include "core/limits.hpp"
#include "core/random.hpp"
#include "node/config/policies_of.hpp"
#include "policies/pacing.hpp"

namespace troupe::node {

namespace {

/// What a client in another process says without an answer is said again after
/// so long.
constexpr std::chrono::seconds resend_after{10};

policies::staleness_discount discount_of(const staleness_options& x) {
  switch (x.kind) {
    case staleness_options::shape::polynomial:
      return policies::polynomial_discount{x.exponent};
    case staleness_options::shape::hinge:
      return policies::hinge_discount{.knee = x.knee, .slope = x.slope};
    case staleness_options::shape::exponential:
      return policies::exponential_discount{x.exponent};
    case staleness_options::shape::constant:
      break;
  }
  return policies::constant_discount{};
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

} // namespace

bool is_virtual(const experiment& x) {
  return x.clock == clock_kind::virtual_time;
}

std::uint64_t invited_together(const experiment& x) {
  const auto most = x.pace.mode == pace_kind::sync ? policies::cohort_size(
                      x.clients.clients_per_round, x.pace.over_selection)
                                                   : x.pace.concurrency;
  return std::min<std::uint64_t>(most, x.clients.invitable());
}

actors::line_rules line_rules_of(const experiment& x) {
  return {.admission = {.staleness_max = staleness_max(x),
                        .pending_max = offers_max(x)},
          .discount = discount_of(x.pace.staleness),
          .step = x.server,
          .buffer_size =
            policies::batch_size(x.pace.mode, x.pace.buffer_size).value_or(1),
          .client_most = client_most(x),
          .by_round = by_round(x.pace.mode),
          .durable_offers = x.durability == durability_kind::offer,
          .target_is_model =
            x.pace.mode == pace_kind::fedasync
            && x.pace.async_target == pace_options::target_kind::model};
}

// A round's visits are based on the version before it.
std::uint64_t versions_kept(const experiment& x, bool outlived) {
  const auto rules = line_rules_of(x);
  std::uint64_t open = 1;
  if (rules.target_is_model || (outlived && !rules.by_round))
    open = rules.admission.staleness_max + 2;
  else if (rules.by_round)
    open = 2;
  return std::max(x.retention, open);
}

actors::dialogue::options talk_of(const experiment& x, const workload& w,
                                  client_id who) {
  return {.me = who,
          .examples = w.examples(who),
          .method = &w.method,
          .blocks = w.blocks,
          // Within a process nothing is lost: a resend is for the rare
          // answer `overloaded`.
          .resend_after =
            is_virtual(x) ? forever : instant{std::chrono::minutes{1}}};
}

actors::dialogue::options
talk_from_afar(const experiment& x, const workload& w, client_id who,
               const messages::run_id& run,
               std::shared_ptr<actors::line_cache> served) {
  auto out = talk_of(x, w, who);
  out.resend_after = resend_after;
  out.beat_every = beat_every;
  out.beat_seed = derive_seed(x.seed, "client", who.value);
  // A version that is here does not cross the wire once more.
  out.cache = std::move(served);
  out.run = run;
  return out;
}

std::size_t worker_count(const experiment& x) {
  return x.workers > 0 ? x.workers
                       : std::max(1u, std::thread::hardware_concurrency());
}

} // namespace troupe::node
