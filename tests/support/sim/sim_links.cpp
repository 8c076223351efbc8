#include "tests/support/sim/sim_links.hpp"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

namespace troupe::test {

using namespace std::chrono_literals;
using transport::channel_id;
using transport::piece;
using transport::piece_kind;

namespace {

constexpr std::size_t pieces_queued_max = 8; ///< As ZeroMQ's small marks.
constexpr instant tick_every = 500ms;
constexpr instant silent_holder_max = 5s;
constexpr instant gone_lately = 4s; ///< As `serving` has it.
/// Three beats of a client.
constexpr transport::silence::options link_patience{.unopened_max = 2s,
                                                    .open_max = 9s};

channel_id channel_of(client_id who) {
  return {who.value};
}

} // namespace

// From offers in pieces of two bytes to nothing in pieces at all; a room that
// has one transfer at a time, or many.
sim_links::sizes sim_links::drawn_sizes(random_stream& draw) {
  sizes x{.frame_bytes_max = draw.chance(0.1) ? std::size_t{64} << 10 : 120,
          .chunk_bytes = draw.chance(0.05) ? 2 : 20 + draw.below(200),
          .window_bytes = 0,
          .room_bytes = draw.chance(0.5) ? 100 + draw.below(1000) : 1 << 20};
  x.window_bytes = 60 + x.chunk_bytes * draw.below(8);
  return x;
}

sim_links::sim_links(world& w, chances& luck, options x)
  : world_(w),
    luck_(luck),
    options_(std::move(x)),
    draw_(derive_seed(options_.seed, "links")),
    sizes_(drawn_sizes(draw_)),
    processes_(options_.processes + 1) {
  open_places();
  tick();
}

sim_links::~sim_links() {
  close();
}

std::uint64_t sim_links::number_of(client_id who) const {
  return 1 + who.value % options_.processes;
}

sim_links::process& sim_links::process_of(client_id who) {
  return processes_[number_of(who)];
}

bool sim_links::are_together(client_id a, client_id b) const {
  return number_of(a) == number_of(b);
}

transport::link_end::options
sim_links::options_of(std::uint64_t instance,
                      std::shared_ptr<transport::held_bytes> room) const {
  transport::link_end::options x;
  x.out.frame_bytes_max = sizes_.frame_bytes_max;
  x.out.chunk_bytes = sizes_.chunk_bytes;
  x.in.bytes_max = [](std::uint16_t) { return std::uint64_t{1} << 20; };
  x.in.frame_bytes_max = sizes_.frame_bytes_max;
  x.in.window_bytes = sizes_.window_bytes;
  x.in.room = std::move(room);
  x.in.landing = landing_;
  x.instance = instance;
  return x;
}

std::shared_ptr<transport::held_bytes> sim_links::make_room() {
  return std::make_shared<transport::held_bytes>(sizes_.room_bytes,
                                                 [bell = bell_] {
                                                   if (*bell)
                                                     (*bell)->ring();
                                                 });
}

void sim_links::open_places() {
  ++server_life_;
  server_instance_ = draw_();
  laws_.clear();
  room_ = make_room();
  hub_ = std::make_shared<actors::server_socket_hub>();
  hub_->use(options_.server);
  if (reception_)
    hub_->bind(reception_);
  places_.emplace(
    [this](std::uint64_t number, std::shared_ptr<transport::held_bytes> room) {
      return options_of(server_instance_ + number, std::move(room));
    },
    room_);
}

link_laws& sim_links::laws_of(std::uint64_t place) {
  return laws_.try_emplace(place, sizes_.frame_bytes_max).first->second;
}

bool sim_links::has(std::uint64_t process, client_id who) const {
  return number_of(who) == process;
}

std::uint64_t sim_links::life_of(std::uint64_t number) const {
  return processes_[number].life;
}

bool sim_links::is_there(std::uint64_t number) const {
  return processes_[number].is_there();
}

std::uint32_t sim_links::dialled(std::uint64_t number) const {
  return processes_[number].dialled;
}

std::set<peer_id> sim_links::here() {
  std::set<peer_id> out;
  for (const auto number : places_->here(world_.now() - gone_lately))
    out.insert(actors::process_of(number));
  return out;
}

std::set<peer_id> sim_links::spoke(instant lately) {
  std::set<peer_id> out;
  for (const auto number : places_->heard(world_.now() - lately))
    out.insert(actors::process_of(number));
  return out;
}

// -- both sides' words --------------------------------------------------------

sim_links::way sim_links::up(client_id from) {
  return up_from(number_of(from), channel_of(from));
}

sim_links::way sim_links::up_of_process(std::uint64_t number) {
  return up_from(number, {});
}

sim_links::way sim_links::up_from(std::uint64_t number, channel_id to) {
  auto& x = processes_[number];
  return [this, to, &x, life = x.life](const messages::any_message& what) {
    if (x.life != life || !x.is_there())
      return;
    x.laws->took(to, what, x.end->say(to, what));
    ring();
  };
}

sim_links::way sim_links::down(peer_id to) {
  return [this, to, life = server_life_](const messages::any_message& what) {
    auto* x =
      life == server_life_ ? places_->find(actors::link_of(to)) : nullptr;
    if (x == nullptr)
      return;
    const auto channel = transport::channel_of(to);
    luck_.happened["an answer to a visit that is over is dropped"] +=
      laws_of(x->number).took(channel, what, x->link.say(channel, what));
    ring();
  };
}

// -- who is there -------------------------------------------------------------

void sim_links::bind(actors::gateway_actor x) {
  hub_->bind(std::move(x));
}

void sim_links::bind(actors::reception_actor x) {
  reception_ = std::move(x);
  hub_->bind(reception_);
}

void sim_links::connect(client_id who, actors::client_actor x) {
  process_of(who).hub->connect(who, std::move(x));
}

void sim_links::begin(client_id who) {
  auto& x = process_of(who);
  if (x.is_there())
    return;
  luck_.happened["process began anew"] += x.life > 0;
  ++x.life;
  x.instance = draw_();
  x.end.emplace(options_of(x.instance, make_room()));
  x.laws.emplace(sizes_.frame_bytes_max);
  x.hub = std::make_shared<actors::client_socket_hub>();
  auto* hub = x.hub.get();
  // As node/join has it.
  hub->listen([this, hub, number = number_of(who)](const auto& y) {
    if (std::holds_alternative<messages::farewell>(y))
      hub->say_hello();
    else if (options_.process_hears)
      options_.process_hears(number, y);
  });
  x.silence.emplace(link_patience, world_.now());
  x.dialled = 0;
  dial_later(number_of(who));
}

void sim_links::process_died(client_id who) {
  auto& x = process_of(who);
  if (!x.is_there())
    return;
  ++luck_.happened["process died"];
  ++x.life;
  x.hub->close();
  hang_up(x);
}

void sim_links::server_died() {
  for (auto& [route, x] : connections_) {
    luck_.happened["server died over a connection"] += x.how == standing::open;
    cut(route);
  }
  open_places();
}

void sim_links::close() {
  if (std::exchange(*bell_, nullptr) == nullptr)
    return;
  hub_->close();
  reception_ = nullptr;
  for (auto& x : processes_)
    if (x.hub)
      x.hub->close();
}

void sim_links::check_end() {
  // What has no connection has nothing to come over.
  const auto is_still = [this] {
    return places_->is_idle() && std::ranges::all_of(processes_, [](auto& x) {
             return !x.is_there() || !x.end->is_open() || x.end->is_idle();
           });
  };
  for (const auto until = world_.now() + 20s;
       !is_still() && world_.now() < until && world_.step();)
    ;
  for (auto& [number, x] : places_->all()) {
    if (!x.link.is_open() || x.route.empty())
      continue;
    const auto& on = connections_.at(x.route);
    const auto& other = processes_[on.process];
    if (on.how != standing::open || other.route != x.route
        || !other.end->is_open())
      continue;
    other.laws->check_end();
    laws_of(number).check_end();
    ++luck_.happened["link came to its end"];
  }
}

// -- the thread's work --------------------------------------------------------

void sim_links::ring() {
  if (std::exchange(rung_, true))
    return;
  world_.later(instant{}, [this] {
    rung_ = false;
    if (*bell_)
      work();
  });
}

void sim_links::tick() {
  if (!*bell_)
    return;
  ends_silence();
  makes_room();
  ring();
  world_.later(tick_every, [this] { tick(); });
}

void sim_links::ends_silence() {
  for (std::uint64_t i = 1; i < processes_.size(); ++i) {
    auto& x = processes_[i];
    if (!x.is_there() || world_.now() < x.silence->ends(x.end->is_open()))
      continue;
    ++luck_.happened["dialled anew after silence"];
    x.silence->broken(world_.now());
    hang_up(x);
    x.end->lost();
    dial_later(i);
  }
}

// Who has some and is gone is asked, or has it no more.
void sim_links::makes_room() {
  if (places_->keeps_room())
    places_->forget_gone(world_.now());
  if (!places_->waiting().empty()) {
    std::map<std::uint64_t, bool> had;
    for (const auto& [number, x] : places_->all())
      had[number] = x.link.holds_room();
    places_->forget_silent_holders(world_.now() - silent_holder_max);
    for (auto& [number, x] : places_->all()) {
      if (had[number] && !x.link.holds_room()) {
        ++luck_.happened["who held room was forgotten"];
        laws_of(number).abandoned();
      }
      x.link.probe();
    }
  }
  for (auto& x : processes_)
    if (x.is_there() && x.end->waits_for_room())
      x.end->probe();
}

void sim_links::work() {
  for (auto& x : processes_)
    if (x.is_there() && !x.route.empty())
      send_some(x);
  for (auto& [number, x] : places_->all())
    if (!x.route.empty())
      send_some(x);
}

void sim_links::count_waiting(const transport::link_end& x) {
  luck_.happened["a transfer waits for room"] += x.waits_for_room();
}

void sim_links::send_some(process& x) {
  while (connections_.at(x.route).up.size() < pieces_queued_max) {
    const auto next = x.end->next();
    count_waiting(*x.end);
    if (!next && x.end->is_open())
      x.laws->has_nothing_to_say();
    if (!next)
      return;
    x.laws->left(*next);
    if (!put(x.route, true, *next))
      return;
  }
}

void sim_links::send_some(transport::place& x) {
  if (connections_.at(x.route).how == standing::closed)
    return give_up(x);
  auto& laws = laws_of(x.number);
  while (connections_.at(x.route).down.size() < pieces_queued_max) {
    const bool kept = places_->keeps_room();
    const auto next = places_->next(x, world_.now());
    luck_.happened["a transfer is given up by its receiver"] +=
      kept && !places_->keeps_room();
    count_waiting(x.link);
    if (!next && x.link.is_open())
      laws.has_nothing_to_say();
    if (!next)
      return;
    laws.left(*next);
    if (!put(x.route, false, *next))
      return;
  }
}

/// Nobody is where it would go.
void sim_links::give_up(transport::place& x) {
  const bool held = x.link.holds_room();
  places_->lost(x, world_.now());
  const bool is_kept = x.link.holds_room();
  luck_.happened["a transfer is kept for who is gone"] += is_kept;
  luck_.happened["a transfer is given up by its receiver"] += held && !is_kept;
  laws_of(x.number).abandoned();
  ring();
}

} // namespace troupe::test
