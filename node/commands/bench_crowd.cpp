#include "node/commands/bench_crowd.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "actors/transport/envelope.hpp"
#include "actors/transport/zmq/bare.hpp"
#include "core/clock.hpp"
#include "node/commands/served_scene.hpp"
#include "node/run/open_files.hpp"

namespace troupe::node {

namespace {

using transport::piece_kind;

constexpr std::size_t many = 10'000;
constexpr std::size_t few = 10;
constexpr std::size_t files_beside = 200; ///< That a process has open.
constexpr double beat_every_seconds = 30;
constexpr double beating_seconds = 15;

/// One client more than are there: nobody is invited.
std::string text_for(std::size_t clients) {
  return R"(
clock = "wall"
evaluate_every = 0
events = false
updates = 1
[clients]
clients = )"
         + std::to_string(clients + 1) + R"(
[pace]
mode = "fedbuff"
buffer_size = 1
concurrency = 1
[data]
kind = "quadratic"
[model]
kind = "quadratic"
)";
}

transport::piece opened(std::uint64_t instance) {
  auto out = transport::make_piece(piece_kind::opened, {}, {});
  out.connection = 1;
  transport::opening what;
  what.protocol = 1; // Each answer is a piece of its own, and is counted.
  what.instance = instance;
  out.body = transport::body_of(what);
  return out;
}

transport::piece framed(std::uint64_t client, const messages::any_message& x) {
  auto out = transport::make_piece(piece_kind::framed, {client}, {});
  out.connection = 1;
  const auto bytes =
    std::make_shared<const transport::buffer>(transport::encode(x));
  out.body = {*bytes, bytes};
  return out;
}

/// What a crowd tells, and is told.
struct crowd_board {
  std::atomic<bool> is_here{false};
  std::atomic<bool> may_beat{false};
};

/// Clients, and the connections by which they come, one as the other.
struct crowd_size {
  std::size_t clients = 0;
  std::size_t connections = 0; ///< As many, or a part of them.
};

result<void> be_there(const served_scene& scene, const crowd_size& of,
                      crowd_board& board) {
  if (auto there = wait_for_answer(scene); !there)
    return there;
  const auto address = scene.board->address.get();
  if (!address)
    return tl::make_unexpected(address.error());
  const auto count = of.clients;
  transport::bare::crowd all{*address, scene.keys->server.open, scene.crowd};
  for (std::uint64_t i = 1; i <= of.connections; ++i)
    all.say(opened(i));
  messages::hello hello;
  hello.incarnation = 1;
  hello.layout = scene.work.blocks->fingerprint();
  hello.examples = 1;
  hello.last = {0};
  for (std::uint64_t i = 1; i <= count; ++i) {
    hello.client = {i};
    hello.nonce = i;
    all.say(framed(i, hello));
  }
  constexpr double patience = 300;
  const auto answers = count + of.connections; // `welcome` and `opened`.
  if (const auto heard = all.hear(answers, patience); heard < answers)
    return fail(errc::invalid_config,
                std::to_string(heard) + " of " + std::to_string(answers)
                  + " answers came: not all of " + std::to_string(of.clients)
                  + " clients by " + std::to_string(of.connections)
                  + " connections were welcomed");
  board.is_here = true;
  while (!board.may_beat)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  const double gap = beat_every_seconds / static_cast<double>(count);
  const auto begin = steady_now();
  for (std::uint64_t i = 1; seconds(steady_now() - begin) < beating_seconds;
       ++i) {
    const auto client = (i - 1) % count + 1;
    all.say(framed(client, messages::beat{{client}, {}}));
    (void)all.hear(1, 0);
    const auto due = begin + from_seconds(gap * static_cast<double>(i));
    if (const auto now = steady_now(); now < due)
      std::this_thread::sleep_for(due - now);
  }
  return {};
}

/// Of a server with so many connections.
struct idle_cost {
  double bytes = 0;   ///< Resident.
  double of_core = 0; ///< With a beat each 30 s.
};

result<idle_cost> idle_with(const crowd_size& of) {
  const auto scene =
    make_scene(text_for(of.clients),
               {.values = 1000, .keys = true, .crowd = of.connections});
  if (!scene)
    return tl::make_unexpected(scene.error());
  const shared_page<crowd_board> board;
  helper_process server{[&] { return serve(**scene); }};
  if (const auto there = told_by(server, (*scene)->board->address); !there)
    return tl::make_unexpected(there.error());
  helper_process all{[&] { return be_there(**scene, of, *board); }};
  while (!board->is_here)
    if (const auto ended = all.ended(); ended && !*ended)
      return tl::make_unexpected(ended->error());
    else
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
  const auto bytes = resident_bytes(server.id());
  const auto before = cpu_seconds(server.id());
  const auto began = steady_now();
  board->may_beat = true;
  const auto done = all.wait();
  const auto cpu = cpu_seconds(server.id()) - before;
  const auto wall = seconds(steady_now() - began);
  (*scene)->board->stop = true;
  (void)server.wait();
  return done.map([&](const process_usage&) {
    return idle_cost{.bytes = static_cast<double>(bytes),
                     .of_core = cpu / wall};
  });
}

/// So many files may be open in each of two processes, or it is said.
result<void> may_open_files() {
  const auto most = raise_open_files();
  if (most >= many + files_beside)
    return {};
  return fail(errc::unsupported, "a process may open " + std::to_string(most)
                                   + " files; 'connected' needs "
                                   + std::to_string(many + files_beside)
                                   + ", and is left out");
}

struct crowd_costs {
  idle_cost with_few;
  idle_cost by_few; ///< Many clients, by few connections.
  idle_cost with_many;
};

result<crowd_costs> measured() {
  crowd_costs x;
  const auto take = [&](idle_cost crowd_costs::*to, const crowd_size& of) {
    return idle_with(of).map([&](const idle_cost& found) { x.*to = found; });
  };
  return may_open_files()
    .and_then([&] {
      return take(&crowd_costs::with_few, {few, few});
    })
    .and_then([&] {
      return take(&crowd_costs::by_few, {many, few});
    })
    .and_then([&] {
      return take(&crowd_costs::with_many, {many, many});
    })
    .map([&] { return x; });
}

} // namespace

std::vector<figure> crowd_figures() {
  const auto known = std::make_shared<std::optional<result<crowd_costs>>>();
  const auto costs = [known] {
    if (!*known)
      *known = measured();
    return **known;
  };
  return {{.name = "connected_memory",
           .unit = "KB",
           .compared_with = "35 KB",
           .bar = 1,
           .repetitions = 1,
           .once = [=]() -> result<sample> {
             return costs().map([](const crowd_costs& x) {
               return sample{(x.with_many.bytes - x.with_few.bytes)
                               / (many - few) / 1e3,
                             35};
             });
           }},
          {.name = "connected_by_few",
           .unit = "MB",
           .compared_with = "60 MB",
           .bar = 1,
           .repetitions = 1,
           .once = [=]() -> result<sample> {
             return costs().map([](const crowd_costs& x) {
               return sample{(x.by_few.bytes - x.with_few.bytes) / 1e6, 60};
             });
           }},
          {.name = "connected_cpu",
           .unit = "% of a core",
           .compared_with = "2 %",
           .bar = 1,
           .repetitions = 1,
           .once = [=]() -> result<sample> {
             return costs().map([](const crowd_costs& x) {
               return sample{100 * x.with_many.of_core, 2};
             });
           }}};
}

} // namespace troupe::node
