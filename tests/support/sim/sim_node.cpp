#include "tests/support/sim/sim_node.hpp"

#include <cstdlib>
#include <iostream>

#include <gtest/gtest.h>

#include "actors/aggregator/line_rules.hpp"
#include "actors/record/begin_lines.hpp"
#include "actors/record/event_reader.hpp"
#include "actors/record/snapshot.hpp"
#include "actors/supervisor/supervisor.hpp"
#include "actors/wiring_of_clients.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "tests/support/sim/sim_parts.hpp"

namespace troupe::test {

using namespace std::chrono_literals;

namespace {

constexpr double rate = 0.75;
const policies::polynomial_discount discount{.exponent = 0.5};

std::shared_ptr<const models::layout> layout_of(const sim_method& x) {
  auto made =
    models::make_layout(x.what, x.shapes, {.weight_max = 64, .delta_max = 8});
  EXPECT_TRUE(made.has_value());
  return std::make_shared<const models::layout>(std::move(*made));
}

actors::course::options course_of(const scenario& x, const recipe& method,
                                  std::size_t lines, std::uint64_t seed) {
  const bool rounds =
    x.mode == pace_kind::sync || x.mode == pace_kind::semisync;
  actors::course::options o;
  o.mode = x.mode;
  o.clients_per_round = x.concurrency;
  o.over_selection = x.over_selection;
  o.quorum = x.quorum;
  // A window's list has no deadline, as in production.
  o.round_deadline = x.mode == pace_kind::semisync ? forever : instant{12s};
  o.concurrency = x.concurrency;
  o.refill_by_version = x.refill_by_version;
  o.window = 2s;
  if (rounds)
    o.budget.rounds = x.versions;
  else
    o.budget.versions = x.versions;
  o.selection = {.seed = seed,
                 .window_size = x.concurrency,
                 .how = policies::uniform_selection{},
                 .roles = method.roles};
  o.state = method.state;
  if (!method.finish.value.empty())
    o.last_role = last_role(method);
  o.visit_timeout = x.visit_timeout;
  o.invitation_first = 2s;
  o.invitation_retry = 8s;
  o.decline_pause = 200ms;
  o.clients_expected = x.clients;
  if (x.as_in_production) {
    o.decline_pause = 1s;
    o.round_deadline = 30s;
    o.fruitless_max =
      10 * (rounds ? std::uint64_t{x.concurrency} : x.buffer_size * lines);
  }
  return o;
}

} // namespace

// What is merged of a stranger must be what the record has of it.
void sim_node::read_note(parts& p, const std::string& text) {
  if (p.plot.offered.empty())
    return;
  const auto event = actors::read_event(text);
  const auto* x =
    event ? std::get_if<actors::offer_recorded>(&*event) : nullptr;
  const auto all = x ? p.plot.offered.find(x->visit) : p.plot.offered.end();
  if (all == p.plot.offered.end())
    return;
  const bool first = p.recorded.insert(x->visit).second;
  EXPECT_TRUE(first) << "an offer is written down twice";
  for (const auto& offer : all->second)
    if (actors::checksum_of(offer) == x->checksum)
      p.made.try_emplace(x->visit, offer);
}

sim_node::sim_node(std::uint64_t seed, const scenario& what,
                   const faults& active, tally& happened)
  : sim_node(seed, what, two_leg_method(what), active, happened) {
  // nop
}

sim_node::sim_node(std::uint64_t seed, const scenario& what,
                   const sim_method& method, const faults& active,
                   tally& happened, sim_network::witness sees)
  : p_(std::make_unique<parts>(seed, what, method, active, happened)) {
  auto& p = *p_;
  p.blocks = layout_of(p.how);
  open_store();
  p.network = std::make_unique<sim_network>(
    p.w, p.luck,
    sim_network::witness{
      .server_said =
        [&p, also = sees.server_said](client_id to, const auto& x) {
          if (also)
            also(to, x);
          p.witness->server_said(to, x);
        },
      .client_said =
        [&p, also = sees.client_said](client_id from, const auto& x) {
          if (also)
            also(from, x);
          p.witness->client_said(from, x);
        },
      .server_heard =
        [&p](client_id from, const auto& x) {
          count_ticket(p, x);
          p.witness->server_heard(from, x);
        },
      .process_asked =
        [&p](peer_id to, const auto& x) {
          if (const auto* y = std::get_if<messages::scores_asked>(&x))
            p.homes->asked(to, *y);
        },
      .process_heard =
        [&p](std::uint64_t process, const auto& x) {
          if (const auto* y = std::get_if<messages::scores_asked>(&x))
            p.homes->heard(process, *y);
        }});
  if (what.processes > 0)
    p.network->use_links(seed, what.processes);
  p.args = args_of(seed);
  if (what.scored_at_home)
    ask_at_home(seed);
  p.worker = actors::start_worker(
    p.w.system(),
    std::make_shared<sim_workshop>(p.w, p.luck, p.how.make_trainer(*p.blocks)));
  start_server();
  for (std::uint64_t i = 1; i <= what.clients; ++i)
    start_client({i});
  start_strangers(seed);
}

void sim_node::start_strangers(std::uint64_t seed) {
  auto& p = *p_;
  std::vector<line_id> experts;
  for (const auto& x : p.how.what.disclosures)
    for (const auto block : p.blocks->family(x.chosen_of))
      experts.push_back(p.blocks->find(block)->line);
  p.network->use_requests(experts);
  for (std::uint64_t i = 1; i <= p.what.hostile; ++i) {
    const client_id who{p.what.clients + i};
    p.strangers.push_back(std::make_unique<hostile>(
      hostile::parts{p.w, *p.network, *p.blocks, p.how.what.disclosures.size(),
                     !experts.empty(), p.plot, p.luck.happened},
      who, seed, p.what.clients));
    auto* one = p.strangers.back().get();
    p.network->connect(who, [one](const auto& x) { one->heard(x); });
    one->begin();
  }
}

void sim_node::open_store() {
  auto& p = *p_;
  const auto& what = p.what;
  p.store = std::make_shared<sim_store>(
    *p.blocks, p.made,
    sim_store::rules{.discount = discount,
                     .rate = rate,
                     .target_is_model = what.target_is_model,
                     .admitted = what.clients,
                     .staleness_max = what.staleness_max,
                     .noted = [&p](const auto& text) { read_note(p, text); },
                     .arrived = what.spools
                                  ? std::make_shared<sim_arrivals>(what.durable)
                                  : nullptr});
  p.answers.blocks = p.blocks.get();
  p.watching->store = p.store.get();
  p.witness.emplace(sim_witness::parts{p.w, *p.blocks, *p.store, p.made,
                                       p.answers, p.luck.happened, p.how.what});
  std::map<block_id, shared_values> initial;
  for (const auto& block : p.blocks->blocks)
    initial[block.id] = share(p.how.initial ? p.how.initial(block)
                                            : std::vector<float>(block.size));
  EXPECT_TRUE(actors::begin_lines(*p.store, *p.blocks, initial).has_value());
}

actors::node_args sim_node::args_of(std::uint64_t seed) {
  auto& p = *p_;
  const auto& what = p.what;
  actors::node_args a{};
  a.blocks = p.blocks;
  a.method = &p.how.what;
  a.lines = std::make_shared<actors::line_rules>(
    actors::line_rules{.admission = {.staleness_max = what.staleness_max,
                                     .pending_max = what.pending_max},
                       .discount = discount,
                       .step = {.rate = rate},
                       .buffer_size = what.buffer_size,
                       .client_most = what.client_most,
                       .by_round = by_round(what.mode),
                       .says_held = seed % 2 == 0 || what.durable,
                       .durable_offers = what.durable,
                       .target_is_model = what.target_is_model});
  a.offers_bytes_max = what.values_bytes_max;
  a.course = course_of(what, p.how.what, p.blocks->lines.size(), seed);
  a.attendance.layout = p.blocks->fingerprint();
  a.attendance.silence_max = what.silence_max;
  a.evaluate_every = 2;
  a.announce = true;
  a.events = what.events;
  a.outlived = seed % 2 == 0;
  if (what.hostile > 0) // As with keys.
    a.may_speak = [](peer_id from, client_id as) {
      return transport::channel_of(from).value == as.value;
    };
  a.books = p.store;
  a.arithmetic = kernels::make_cpu_backend();
  a.evaluator = p.how.make_trainer(*p.blocks);
  a.watching = p.watching;
  a.network = p.network->server_side();
  a.counted = std::make_shared<actors::traffic>();
  a.started = p.w.clock_now();
  a.waits.merge = a.waits.store = 2s;
  a.waits.retry_after = 500ms;
  a.started_as = [&p](const actors::cast& x) {
    p.network->bind(x.gateway);
    p.cast = x;
    p.witness->server_began(p.args.started.time_since_epoch());
  };
  a.around_merger = [&p](const actors::merger_actor& x) {
    return faulty_merger(p.w.system(), p.luck, p.progress, x, p.proxies);
  };
  a.around_archivist = [&p](const actors::archivist_actor& x) {
    return faulty_archivist(p.w.system(), p.luck, p.progress, x, p.proxies);
  };
  return a;
}

sim_node::~sim_node() {
  auto& p = *p_;
  p.network->close();
  const auto end = [](const caf::actor& x) { world::kill(x); };
  ++p.life;
  end(p.supervisor);
  p.supervisor = nullptr;
  for (const auto& x : p.server)
    end(x);
  for (const auto& x : p.proxies)
    end(x);
  for (const auto& [who, x] : p.clients)
    end(x);
  end(caf::actor_cast<caf::actor>(p.worker));
  p.worker = nullptr;
  p.reception = nullptr;
  p.cast = {};
  p.server.clear();
  p.proxies.clear();
  p.clients.clear();
  p.w.settle();
  p.args = {};
}

void sim_node::start_server() {
  auto& p = *p_;
  p.supervisor = p.w.system().spawn(
    actors::supervisor,
    actors::supervisor_args{
      [&p, life = ++p.life,
       first = p.life == 1]() mutable -> result<std::vector<caf::actor>> {
        // CAF runs an actor's function once even if it was killed before.
        if (life != p.life)
          return std::vector<caf::actor>{};
        if (!std::exchange(first, false)
            && p.luck.happens(p.luck.disk, p.luck.active.failure,
                              "load failed"))
          return fail(errc::storage_failure, "cannot be read now");
        auto made = actors::build_node(p.w.system(), p.args);
        if (!made)
          return made;
        p.server = *made;
        ++p.luck.happened["server started"];
        if (std::getenv("TROUPE_TRACE"))
          std::cout << seconds(p.w.now()) << " server started\n";
        return p.server;
      },
      [&p](const std::string&) { ++p.luck.happened["server rebuilt"]; }});
}

void sim_node::start_client(client_id who) {
  auto& p = *p_;
  actors::client_args x;
  x.options.me = who;
  x.options.examples = 10 + who.value;
  x.options.method = &p.how.what;
  x.options.blocks = p.blocks;
  x.options.resend_after = p.what.resend_after;
  x.options.held_again_after = 10 * p.what.resend_after; // A link has none.
  x.options.beat_every = 3s;
  if (who.value % 2 == 0)
    x.options.cache = p.lines;
  x.network = p.network->client_side(who);
  x.files = p.vault;
  x.worker = p.worker;
  x.started = p.args.started;
  const auto started = actors::start_client(
    p.w.system(), std::move(x),
    [&](const actors::client_actor& made) { p.network->connect(who, made); });
  p.clients[who] = caf::actor_cast<caf::actor>(started);
}

bool sim_node::step() {
  crash_something();
  auto& p = *p_;
  if (p.crashes.below(16) == 0)
    check_mail();
  bool kept = false;
  if (p.what.slow_disks && p.disks.below(4) == 0) {
    kept = p.vault->keep_one(client_id{1 + p.disks.below(p.what.clients)});
    p.luck.happened["a file was kept late"] += kept;
  }
  // Nobody who waits for a disk waits for ever.
  return p.w.step() || kept || p.vault->keep_one();
}

void sim_node::heal() {
  p_->luck.active = {};
  for (const auto who : std::exchange(p_->gone, {}))
    live(who, policies::life_event::come);
  for (const auto who : std::exchange(p_->dead, {}))
    start_client(who);
}

bool sim_node::finished() const {
  return p_->watching->end.has_value();
}

bool sim_node::failed() const {
  return p_->watching->end->failed;
}

std::string sim_node::reason() const {
  return p_->watching->end->reason;
}

std::size_t sim_node::state_bytes() {
  auto& p = *p_;
  const messages::state_asked question{
    std::make_shared<actors::snapshot_draft>()};
  caf::anon_send(p.cast.gateway, question);
  caf::anon_send(p.cast.roster, question);
  caf::anon_send(p.cast.director, question);
  caf::anon_send(p.cast.router, question);
  for (const auto until = now() + 1s; now() < until && p.w.step();)
    ;
  std::size_t bytes = 0;
  for (const auto& [name, part] : question.draft->taken().parts)
    bytes += part.size();
  for (const auto& [digest, values] : question.draft->taken().values)
    bytes += values->size() * sizeof(float);
  return bytes;
}

std::uint64_t sim_node::lines_noted() const {
  return p_->store->lines_noted();
}

std::uint64_t sim_node::trace() const {
  return p_->store->trace();
}

instant sim_node::now() {
  return p_->w.now();
}

const models::layout& sim_node::blocks() const {
  return *p_->blocks;
}

const sim_store& sim_node::store() const {
  return *p_->store;
}

std::map<client_id, actors::state_ptr> sim_node::states() const {
  return p_->vault->states();
}

} // namespace troupe::test
