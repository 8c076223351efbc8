#include "tests/support/sim/sim_node.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <iostream>

#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "actors/supervisor/supervisor.hpp"
#include "tests/support/recipes/two_leg.hpp"
#include "tests/support/sim/sim_faulty.hpp"

namespace troupe::test {

using namespace std::chrono_literals;
using policies::verdict;

struct sim_node::watcher final : actors::audience {
  void published(const messages::version_published& x, instant) override {
    EXPECT_LE(x.head.value, store->head(x.line).value) << "announced, not durable";
  }

  void evaluated(const messages::evaluation_finished&, instant) override {
    // The director decides.
  }

  void finished(const messages::run_finished& x,
                const std::optional<messages::evaluation_finished>&,
                instant) override {
    end = x;
  }

  sim_store* store = nullptr;
  std::optional<messages::run_finished> end;
};

/// A vault that knows what no client may do.
struct sim_vault final : actors::vault {
  void save(client_id who, const actors::client_file& x) override {
    if (x.open) {
      EXPECT_FALSE(offered.contains(x.open->pass.visit))
        << "a visit is begun again after its offer was kept";
    }
    for (const auto& kept : x.outbox)
      offered.insert(kept.offer.pass.visit);
    EXPECT_LE(x.outbox.size(), limits::outbox_offers_max);
    inner.save(who, x);
  }

  std::optional<actors::client_file> load(client_id who) const override {
    return inner.load(who);
  }

  std::map<client_id, actors::state_ptr> states() const override {
    return inner.states();
  }

  actors::memory_vault inner;
  std::set<visit_id> offered;
};

struct sim_node::parts {
  parts(std::uint64_t seed, const scenario& x, const faults& active, tally& happened)
    : what(x),
      method(two_leg_recipe(x.state)),
      luck(seed, happened),
      crashes(derive_seed(seed, "crashes")),
      w(seed) {
    luck.active = active;
  }

  scenario what;
  recipe method;
  std::shared_ptr<const models::layout> blocks;
  offers_made made;
  chances luck;
  random_stream crashes;
  progress_of_lines progress;
  std::shared_ptr<sim_store> store;
  std::shared_ptr<watcher> watching = std::make_shared<watcher>();
  std::shared_ptr<sim_vault> vault = std::make_shared<sim_vault>();
  world w;
  std::unique_ptr<sim_network> network;
  node::node_args args;
  std::uint64_t life = 0; ///< Counts starts of the server.
  caf::actor supervisor;
  std::vector<caf::actor> server;
  std::vector<caf::actor> proxies; ///< Of all lives of the server.
  actors::kernel_worker_actor worker;
  std::map<client_id, caf::actor> clients;
};

namespace {

std::shared_ptr<const models::layout> layout_of(const recipe& method) {
  const models::tensor_list four{{.name = "w", .shape = {4}}};
  auto made = models::make_layout(
    method, {{"base", four}, {"tally", four}, {"expert", four}},
    {.weight_max = 64, .delta_max = 8});
  EXPECT_TRUE(made.has_value());
  return std::make_shared<const models::layout>(std::move(*made));
}

actors::programme::options programme_of(const scenario& x, const recipe& method,
                                        std::uint64_t seed) {
  const bool rounds
    = x.mode == pace_kind::sync || x.mode == pace_kind::semisync;
  actors::programme::options o;
  o.mode = x.mode;
  o.clients_per_round = x.concurrency;
  o.over_selection = 1.3;
  o.quorum = 2;
  o.round_deadline = 12s;
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
  o.state = x.state;
  o.visit_timeout = 60s;
  o.invitation_retry = 2s;
  o.decline_pause = 200ms;
  o.clients_expected = x.clients;
  return o;
}

/// With TROUPE_TRACE, the same binary and seed tell what was said.
void tell(const world& w, const char* direction, client_id who,
          const messages::any_message& x) {
  static const bool wanted = std::getenv("TROUPE_TRACE") != nullptr;
  if (!wanted)
    return;
  constexpr std::array names{"hello",           "welcome",     "farewell",
                             "beat",            "beat_answered", "leave",
                             "invited",         "fetch_requested", "line_served",
                             "visit_ended",     "visit_declined", "offer_made",
                             "offer_answered",  "version_announced"};
  std::cout << seconds(w.now()) << ' ' << direction << ' ' << who.value << ' '
            << names[x.index()];
  std::visit(
    [](const auto& m) {
      if constexpr (requires { m.pass; })
        std::cout << " visit " << m.pass.visit.number.value << " round "
                  << m.pass.round.value;
      if constexpr (requires { m.visit; })
        std::cout << " visit " << m.visit.number.value;
      if constexpr (requires { m.line; })
        std::cout << " line " << m.line.value;
      if constexpr (requires { m.verdict; })
        std::cout << ' ' << to_string(m.verdict);
    },
    x);
  std::cout << '\n';
}

/// What a server says must be stored already.
void check_words(const sim_store& store, client_id to,
                 const messages::any_message& any) {
  if (const auto* x = std::get_if<messages::offer_answered>(&any)) {
    EXPECT_LE(x->head.value, store.head(x->line).value)
      << "a client hears of a head that is not stored";
    if (x->verdict == verdict::accepted || x->verdict == verdict::duplicate) {
      EXPECT_TRUE(store.holds(x->line, x->visit))
        << "answered " << to_string(x->verdict) << " and not durable, client "
        << to.value;
    }
  } else if (const auto* y = std::get_if<messages::line_served>(&any)) {
    ASSERT_LE(y->base.value, store.head(y->line).value)
      << "served, not stored";
    const auto& stored = store.line(y->line)[y->base.value];
    for (std::size_t i = 0; i < y->blocks.size(); ++i)
      EXPECT_EQ(*y->blocks[i].values, *stored.blocks[i].values)
        << "served values are not those of the version";
  } else if (const auto* z = std::get_if<messages::version_announced>(&any)) {
    EXPECT_LE(z->head.value, store.head(z->line).value) << "announced, not durable";
  }
}

} // namespace

sim_node::sim_node(std::uint64_t seed, const scenario& what, const faults& active,
                   tally& happened)
  : p_(std::make_unique<parts>(seed, what, active, happened)) {
  auto& p = *p_;
  p.blocks = layout_of(p.method);
  const double rate = 0.75;
  // Offers that are pending when a version is made grow staler while they wait.
  const auto waiting = what.pending_max / std::max<std::size_t>(1, what.buffer_size);
  const policies::staleness_discount discount
    = policies::polynomial_discount{.exponent = 0.5};
  p.store = std::make_shared<sim_store>(
    *p.blocks, p.made,
    sim_store::rules{.discount = discount,
                     .rate = rate,
                     .target_is_model = what.target_is_model,
                     .admitted = what.clients,
                     .staleness_max = what.staleness_max + waiting + 1});
  p.watching->store = p.store.get();
  p.network = std::make_unique<sim_network>(
    p.w, p.luck,
    sim_network::witness{
      .server_said =
        [&p](client_id to, const messages::any_message& x) {
          tell(p.w, "to", to, x);
          check_words(*p.store, to, x);
          if (const auto* a = std::get_if<messages::offer_answered>(&x)) {
            ++p.luck.happened[std::string{"verdict "} + to_string(a->verdict)];
            p.store->mix(a->visit.client.value * 31
                         + static_cast<std::uint64_t>(a->verdict));
          } else if (const auto* e = std::get_if<messages::visit_ended>(&x)) {
            ++p.luck.happened[std::string{"visit ended "} + to_string(e->why)];
          }
        },
      .client_said =
        [&p](client_id from, const messages::any_message& x) {
          tell(p.w, "from", from, x);
          if (const auto* o = std::get_if<messages::offer_made>(&x))
            p.made.try_emplace(o->pass.visit, *o);
        }});
  std::map<block_id, shared_values> zeros;
  for (const auto& block : p.blocks->blocks)
    zeros[block.id] = share(std::vector<float>(block.size));
  EXPECT_TRUE(node::begin_lines(*p.store, *p.blocks, zeros).has_value());
  auto& a = p.args;
  a.blocks = p.blocks;
  a.method = &p.method;
  a.lines = {.admission = {.staleness_max = what.staleness_max,
                           .pending_max = what.pending_max},
             .discount = discount,
             .step = {.rate = rate},
             .buffer_size = what.buffer_size,
             .target_is_model = what.target_is_model};
  a.programme = programme_of(what, p.method, seed);
  a.attendance.layout = p.blocks->fingerprint();
  a.evaluate_every = 2;
  a.announce = true;
  a.books = p.store;
  a.arithmetic = kernels::make_cpu_backend();
  a.jobs = std::make_shared<sim_workshop>(p.w, p.luck, *p.blocks);
  a.evaluator = std::make_shared<pull_trainer>(*p.blocks);
  a.watching = p.watching;
  a.network = p.network->server_side();
  a.counted = std::make_shared<actors::traffic>();
  a.started = p.w.clock_now();
  a.merge_timeout = 2s;
  a.commit_timeout = 2s;
  a.retry_after = 500ms;
  a.started_as = [&p](const actors::cast& x) { p.network->bind(x.gateway); };
  a.around_worker = [&p](const actors::kernel_worker_actor& x) {
    return faulty_worker(p.w.system(), p.luck, p.progress, x, p.proxies);
  };
  a.around_archivist = [&p](const actors::archivist_actor& x) {
    return faulty_archivist(p.w.system(), p.luck, p.progress, x, p.proxies);
  };
  p.worker = node::start_worker(p.w.system(), a);
  start_server();
  for (std::uint64_t i = 1; i <= what.clients; ++i)
    start_client({i});
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
      [&p, life = ++p.life] {
        // CAF runs an actor's function once even if it was killed before.
        if (life != p.life)
          return std::vector<caf::actor>{};
        p.server = node::build_node(p.w.system(), p.args);
        ++p.luck.happened["server started"];
        if (std::getenv("TROUPE_TRACE"))
          std::cout << seconds(p.w.now()) << " server started\n";
        return p.server;
      },
      [&p](const std::string&) { ++p.luck.happened["server rebuilt"]; }});
}

void sim_node::start_client(client_id who) {
  auto& p = *p_;
  actors::client_args x{
    .options = {.me = who,
                .examples = 10 + who.value,
                .method = &p.method,
                .blocks = p.blocks,
                .resend_after = 1s,
                .beat_every = 3s,
                .cache = who.value % 2 == 0},
    .network = p.network->client_side(who),
    .files = p.vault,
    .worker = p.worker,
    .started = p.args.started,
    .duration = nullptr};
  const auto started = node::start_client(p.w.system(), std::move(x));
  p.clients[who] = caf::actor_cast<caf::actor>(started);
  p.network->connect(who, started);
}

bool sim_node::step() {
  crash_something();
  if (p_->crashes.below(16) == 0)
    check_mail();
  return p_->w.step();
}

void sim_node::heal() {
  p_->luck.active = {};
}

void sim_node::crash_something() {
  auto& p = *p_;
  const auto& active = p.luck.active;
  if (p.luck.happens(p.crashes, active.node_crash, "node crashed"))
    crash_server();
  if (p.luck.happens(p.crashes, active.actor_crash, "actor crashed"))
    crash_actor();
  if (p.luck.happens(p.crashes, active.client_crash, "client crashed"))
    crash_client();
}

void sim_node::crash_server() {
  auto& p = *p_;
  for (const auto& line : p.blocks->lines)
    ++p.luck.happened["crash while " + p.progress.phase(line.id)];
  world::kill(p.supervisor);
  for (const auto& x : p.server)
    world::kill(x);
  p.server.clear();
  p.progress.forget();
  start_server();
}

void sim_node::crash_actor() {
  auto& p = *p_;
  if (!p.server.empty())
    world::kill(p.server[p.crashes.below(p.server.size())]);
}

void sim_node::crash_client() {
  auto& p = *p_;
  const client_id who{1 + p.crashes.below(p.what.clients)};
  const auto file = p.vault->load(who);
  const char* phase = !file                  ? "before its hello"
                      : file->open           ? "on a visit"
                      : file->outbox.empty() ? "at rest"
                                             : "waiting for a verdict";
  ++p.luck.happened[std::string{"client crash "} + phase];
  world::kill(p.clients.at(who));
  start_client(who);
}

// A mailbox is a queue: whoever fills it holds a credit.
void sim_node::check_mail() {
  auto& p = *p_;
  const auto most
    = p.what.clients * limits::frames_per_client_max + 16 * p.server.size();
  for (const auto& x : p.server) {
    EXPECT_LE(world::mail_of(x), most)
      << "a mailbox grows without bound: "
      << dynamic_cast<caf::local_actor&>(*caf::actor_cast<caf::abstract_actor*>(x)).name();
  }
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

void sim_node::check_end() {
  auto& p = *p_;
  EXPECT_FALSE(failed()) << reason();
  const auto lead = *p.blocks->lead();
  const auto& first = *p.store->line(lead).back().blocks.front().values;
  const auto& base = *p.blocks->find("base");
  const bool enough = p.store->head(lead).value >= 4;
  for (const float v : first)
    EXPECT_TRUE(!enough || std::abs(v - optimum_of(base.id)) < 0.6f)
      << "nothing was learned: " << v << " after "
      << p.store->head(lead).value << " versions";
  for (const auto& [who, state] : p.vault->states()) {
    std::uint64_t mine = 0;
    for (const auto& visit : p.vault->offered)
      mine += visit.client == who;
    EXPECT_LE(state->visits, mine) << "a visit is in a client's state twice";
  }
}

} // namespace troupe::test
