#include "node/commands/bench_crowd.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include "actors/transport/envelope.hpp"
#include "actors/transport/zmq/bare.hpp"
#include "core/clock.hpp"
#include "node/commands/served_scene.hpp"
#include "node/keys/pair.hpp"
#include "node/run/open_files.hpp"

namespace troupe::node {

namespace {

namespace bare = transport::bare;
using transport::piece_kind;

constexpr std::size_t many = 10'000;
constexpr std::size_t few = 10;
constexpr std::size_t files_beside = 200; ///< That a process has open.
constexpr double beat_every_seconds = 30;
constexpr double beating_seconds = 15;

/// Clients, and the connections by which they come, one as the other.
struct crowd_size {
  std::size_t clients = 0;
  std::size_t connections = 0; ///< As many, or a part of them.
};

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

/// Where a connection is of one client, each answer is a piece of its own, and
/// is counted; else only without bundles.
std::uint16_t protocol_for(const crowd_size& x) {
  return x.connections == x.clients ? transport::link_protocol : 1;
}

bare::shape shape_for(const crowd_size& x) {
  return x.connections == x.clients ? bare::shape::one_part
                                    : bare::shape::two_parts;
}

transport::piece opened(std::uint64_t instance, std::uint16_t protocol) {
  auto out = transport::make_piece(piece_kind::opened, {}, {});
  out.connection = 1;
  transport::opening what;
  what.protocol = protocol;
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
  std::atomic<bool> has_beaten{false};
  std::atomic<bool> may_go{false};
};

void wait_for(const std::atomic<bool>& x) {
  while (!x)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
}

/// Says that all are here, and has one after the other beat.
void beat(bare::crowd& all, const crowd_size& of, crowd_board& board) {
  board.is_here = true;
  wait_for(board.may_beat);
  const double gap = beat_every_seconds / static_cast<double>(of.clients);
  const auto begin = steady_now();
  for (std::uint64_t i = 1; seconds(steady_now() - begin) < beating_seconds;
       ++i) {
    const auto client = (i - 1) % of.clients + 1;
    all.say(framed(client, messages::beat{{client}, {}}), shape_for(of));
    (void)all.hear(1, 0);
    const auto due = begin + from_seconds(gap * static_cast<double>(i));
    if (const auto now = steady_now(); now < due)
      std::this_thread::sleep_for(due - now);
  }
  board.has_beaten = true;
  wait_for(board.may_go);
}

result<void> be_there(const served_scene& scene, const crowd_size& of,
                      crowd_board& board) {
  if (auto there = wait_for_answer(scene); !there)
    return there;
  const auto address = scene.board->address.get();
  if (!address)
    return tl::make_unexpected(address.error());
  const auto count = of.clients;
  bare::crowd all{*address, scene.keys->server.open, scene.crowd};
  for (std::uint64_t i = 1; i <= of.connections; ++i)
    all.say(opened(i, protocol_for(of)));
  messages::hello hello;
  hello.incarnation = 1;
  hello.layout = scene.work.blocks->fingerprint();
  hello.examples = 1;
  hello.last = {0};
  for (std::uint64_t i = 1; i <= count; ++i) {
    hello.client = {i};
    hello.nonce = i;
    all.say(framed(i, hello), shape_for(of));
  }
  constexpr double patience = 300;
  const auto answers = count + of.connections; // `welcome` and `opened`.
  if (const auto heard = all.hear(answers, patience); heard < answers)
    return fail(errc::invalid_config,
                std::to_string(heard) + " of " + std::to_string(answers)
                  + " answers came: not all of " + std::to_string(of.clients)
                  + " clients by " + std::to_string(of.connections)
                  + " connections were welcomed");
  beat(all, of, board);
  return {};
}

/// The same of an echo.
result<void> be_at_echo(const std::string& address, const public_key& server,
                        const crowd_size& of, crowd_board& board) {
  std::vector<key_pair> keys;
  for (std::size_t i = 0; i < of.connections; ++i)
    keys.push_back(draw_pair());
  bare::crowd all{address, server, keys};
  for (std::uint64_t i = 1; i <= of.connections; ++i)
    all.say(framed(i, messages::beat{{i}, {}}), shape_for(of));
  constexpr double patience = 300;
  if (all.hear(of.connections, patience) < of.connections)
    return fail(errc::invalid_config, "the echo has not answered all");
  beat(all, of, board);
  return {};
}

/// Of a server with so many connections.
struct idle_cost {
  double bytes = 0;   ///< Resident.
  double of_core = 0; ///< With a beat each 30 s.
};

/// While they beat: that all go at once is another matter.
result<idle_cost> cost_of(const helper_process& server, helper_process& all,
                          crowd_board& board) {
  const auto until = [&](const std::atomic<bool>& x) -> result<void> {
    while (!x)
      if (const auto ended = all.ended(); ended && !*ended)
        return tl::make_unexpected(ended->error());
      else
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    return {};
  };
  if (auto ok = until(board.is_here); !ok)
    return tl::make_unexpected(ok.error());
  const auto bytes = resident_bytes(server.id());
  const auto before = cpu_seconds(server.id());
  const auto began = steady_now();
  board.may_beat = true;
  if (auto ok = until(board.has_beaten); !ok)
    return tl::make_unexpected(ok.error());
  const auto cpu = cpu_seconds(server.id()) - before;
  const auto wall = seconds(steady_now() - began);
  board.may_go = true;
  return all.wait().map([&](const process_usage&) {
    return idle_cost{.bytes = static_cast<double>(bytes),
                     .of_core = cpu / wall};
  });
}

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
  const auto out = cost_of(server, all, *board);
  (*scene)->board->stop = true;
  (void)server.wait();
  return out;
}

/// What ZeroMQ alone takes for as much.
result<idle_cost> idle_echo(const crowd_size& of) {
  struct echo_board {
    told_address address;
    std::atomic<bool> stop{false};
    crowd_board crowd;
  };
  const auto keys = drawn_keys(true);
  const shared_page<echo_board> board;
  helper_process echo{[&]() -> result<void> {
    bare::echo([&](const std::string& at) { board->address.tell(at); },
               board->stop, keys);
    return {};
  }};
  const auto address = told_by(echo, board->address);
  if (!address)
    return tl::make_unexpected(address.error());
  helper_process all{
    [&] { return be_at_echo(*address, keys->server.open, of, board->crowd); }};
  const auto out = cost_of(echo, all, board->crowd);
  board->stop = true;
  (void)echo.wait();
  return out;
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
  idle_cost of_echo; ///< With as many.
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
    .and_then([&] {
      return idle_echo({many, many}).map([&](const idle_cost& found) {
        x.of_echo = found;
      });
    })
    .map([&] { return x; });
}

} // namespace

std::vector<figure> crowd_figures() {
  const auto known = std::make_shared<std::optional<result<crowd_costs>>>();
  const auto made = [known](const char* name, const char* unit, double most,
                            bool is_ours, double (*value)(const crowd_costs&)) {
    std::ostringstream with;
    with << most << ' ' << unit;
    return figure{.name = name,
                  .unit = unit,
                  .compared_with = with.str(),
                  .bar = is_ours ? std::optional{1.0} : std::nullopt,
                  .repetitions = 1,
                  .once = [=]() -> result<sample> {
                    if (!*known)
                      *known = measured();
                    return (**known).map([&](const crowd_costs& x) {
                      return sample{value(x), most};
                    });
                  }};
  };
  constexpr double kilobytes = 35;
  constexpr double megabytes = 60;
  constexpr double percent = 2;
  return {
    made("connected_memory", "KB", kilobytes, true,
         [](const crowd_costs& x) {
           return (x.with_many.bytes - x.with_few.bytes) / (many - few) / 1e3;
         }),
    made("connected_memory_of_an_echo", "KB", kilobytes, false,
         [](const crowd_costs& x) { return x.of_echo.bytes / many / 1e3; }),
    made("connected_by_few", "MB", megabytes, true,
         [](const crowd_costs& x) {
           return (x.by_few.bytes - x.with_few.bytes) / 1e6;
         }),
    made("connected_cpu", "% of a core", percent, true,
         [](const crowd_costs& x) { return 100 * x.with_many.of_core; }),
    made("connected_cpu_of_an_echo", "% of a core", percent, false,
         [](const crowd_costs& x) { return 100 * x.of_echo.of_core; })};
}

} // namespace troupe::node
