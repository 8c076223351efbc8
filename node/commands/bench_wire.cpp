#include "node/commands/bench_wire.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "actors/transport/piece.hpp"
#include "actors/transport/zmq/bare.hpp"
#include "actors/transport/zmq/socket_endpoint.hpp"
#include "core/clock.hpp"
#include "node/commands/served_scene.hpp"

namespace troupe::node {

namespace {

namespace bare = transport::bare;

/// What `invited` and `visit_declined` take on the wire, about.
constexpr std::size_t small_frame_bytes = 108;
constexpr std::size_t head_bytes = transport::piece_head_size;

double p99(std::vector<double> xs) {
  if (xs.empty())
    return 0;
  const auto at =
    xs.begin() + static_cast<std::ptrdiff_t>((xs.size() - 1) * 99 / 100);
  std::ranges::nth_element(xs, at);
  return *at;
}

/// How fast small frames went to and fro.
struct pace_of_frames {
  double a_second = 0;
  double p99_seconds = 0;
};

struct echo_board {
  told_address address;
  std::atomic<bool> stop{false};
  pace_of_frames seen;
};

pace_of_frames pace_of(const std::vector<double>& taken, double wall) {
  return {.a_second = static_cast<double>(taken.size()) / wall,
          .p99_seconds = p99(taken)};
}

/// An echo of as many bytes, between two processes.
result<pace_of_frames> echoed(int in_flight, double wall) {
  const shared_page<echo_board> board;
  helper_process far{[&]() -> result<void> {
    bare::echo([&](const std::string& x) { board->address.tell(x); },
               board->stop);
    return {};
  }};
  helper_process near{[&]() -> result<void> {
    return board->address.get().map([&](const std::string& address) {
      const auto got = bare::ask(address, {.head_bytes = head_bytes,
                                           .body_bytes = small_frame_bytes,
                                           .in_flight = in_flight,
                                           .seconds = wall});
      board->seen = pace_of(got.seconds, wall);
    });
  }};
  auto done = near.wait();
  board->stop = true;
  if (const auto ended = far.wait(); !ended && done)
    done = tl::make_unexpected(ended.error());
  return done.map([&](const process_usage&) { return board->seen; });
}

/// Clients that say the next small frame as soon as they hear the one before.
class talker {
public:
  enum class about : std::uint8_t { declines, beats };

  talker(const served_scene& scene, about what, std::uint64_t first, int count)
    : scene_(scene),
      what_(what),
      first_(first),
      said_(static_cast<std::size_t>(count)) {
    // nop
  }

  result<pace_of_frames> talk(double wall) {
    const auto address = scene_.board->address.get();
    if (!address)
      return tl::make_unexpected(address.error());
    transport::socket_endpoint::options how;
    how.address = *address;
    how.bytes_max = [](std::uint16_t) { return std::uint64_t{1} << 30; };
    how.instance = static_cast<std::uint64_t>(steady_now().count());
    how.arrived = [this](transport::frame_arrived x) { heard(x); };
    auto made = transport::socket_endpoint::dial(std::move(how));
    if (!made)
      return tl::make_unexpected(made.error());
    socket_ = std::move(*made);
    for (std::size_t i = 0; i < said_.size(); ++i)
      socket_->send({first_ + i}, hello_of(first_ + i));
    std::this_thread::sleep_for(std::chrono::milliseconds{500});
    counting_ = true;
    std::this_thread::sleep_for(from_seconds(wall));
    counting_ = false;
    socket_->close();
    if (taken_.empty())
      return fail(errc::invalid_config, "no small frame was answered");
    return pace_of(taken_, wall);
  }

private:
  messages::hello hello_of(std::uint64_t client) const {
    messages::hello x;
    x.client = {client};
    x.incarnation = 1;
    x.layout = scene_.work.blocks->fingerprint();
    x.nonce = client;
    x.examples = 1;
    x.last = {0};
    return x;
  }

  // On the socket's thread.
  void heard(const transport::frame_arrived& x) {
    const auto message = x.what.open();
    if (!message)
      return;
    if (const auto* asked = std::get_if<messages::invited>(message->get());
        asked && what_ == about::declines)
      answer(x.peer, messages::visit_declined{
                       asked->pass, messages::decline_reason::no_offer});
    if (what_ == about::beats
        && (std::holds_alternative<messages::welcome>(**message)
            || std::holds_alternative<messages::beat_answered>(**message)))
      answer(x.peer, messages::beat{{x.peer.value}, {}});
  }

  void answer(peer_id peer, messages::any_message x) {
    const auto now = steady_now();
    auto& said = said_[peer.value - first_];
    if (counting_ && said != instant{})
      taken_.push_back(seconds(now - said));
    said = now;
    socket_->send(peer, std::move(x));
  }

  const served_scene& scene_;
  const about what_;
  const std::uint64_t first_;
  std::vector<instant> said_;
  std::vector<double> taken_; ///< Of the socket's thread, until it is closed.
  std::atomic<bool> counting_{false};
  std::shared_ptr<transport::socket_endpoint> socket_;
};

/// Of a method without offers: who declines is invited again at once.
std::string control_text(int clients) {
  const auto n = std::to_string(clients);
  return R"(
clock = "wall"
time_budget = 3600
evaluate_every = 0
events = false
[clients]
clients = )"
         + n + R"(
[pace]
mode = "fedbuff"
buffer_size = 1
concurrency = )"
         + n + R"(
[data]
kind = "quadratic"
[model]
kind = "quadratic"
)";
}

result<pace_of_frames> controlled(int in_flight, double wall) {
  const auto scene =
    make_scene(control_text(in_flight), {.values = 1000, .offers = false});
  if (!scene)
    return tl::make_unexpected(scene.error());
  const shared_page<pace_of_frames> seen;
  helper_process server{[&] { return serve(**scene); }};
  helper_process clients{[&]() -> result<void> {
    return talker{**scene, talker::about::declines, 1, in_flight}
      .talk(wall)
      .map([&](const pace_of_frames& x) { *seen = x; });
  }};
  auto done = clients.wait();
  (*scene)->board->stop = true;
  (void)server.wait(); // To be interrupted is how it ends.
  return done.map([&](const process_usage&) { return *seen; });
}

constexpr double wall_seconds = 2;
constexpr int many_in_flight = 64;

result<sample> control_rate() {
  const auto ours = controlled(many_in_flight, wall_seconds);
  if (!ours)
    return tl::make_unexpected(ours.error());
  return echoed(many_in_flight, wall_seconds).map([&](const auto& x) {
    return sample{1 / ours->a_second, 1 / x.a_second};
  });
}

result<sample> control_p99() {
  const auto ours = controlled(1, wall_seconds);
  if (!ours)
    return tl::make_unexpected(ours.error());
  return echoed(1, wall_seconds).map([&](const auto& x) {
    return sample{ours->p99_seconds, x.p99_seconds};
  });
}

constexpr std::size_t offer_values = 10'000'000;
constexpr std::uint64_t offer_bytes = offer_values * sizeof(float);
constexpr int uploaders = 4;
constexpr int offers_a_version = 16;

/// One client more than those that upload, which is never invited.
std::string upload_text(int versions) {
  return R"(
clock = "wall"
evaluate_every = 0
events = false
updates = )"
         + std::to_string(versions * offers_a_version) + R"(
[clients]
clients = )"
         + std::to_string(uploaders) + R"(
[pace]
mode = "fedbuff"
buffer_size = )"
         + std::to_string(offers_a_version) + R"(
concurrency = )"
         + std::to_string(uploaders) + R"(
[data]
kind = "quadratic"
[model]
kind = "quadratic"
)";
}

/// CPU of both processes for offers of 40 MB, fetches of a quarter as many
/// bytes included, until they are published.
result<double> upload_seconds_per_byte(int versions) {
  const auto scene = make_scene(upload_text(versions),
                                {.values = offer_values, .on_disk = true});
  if (!scene)
    return tl::make_unexpected(scene.error());
  helper_process server{[&] { return serve(**scene); }};
  helper_process clients{[&] { return take_part(**scene, uploaders); }};
  const auto theirs = clients.wait();
  (*scene)->board->stop = true;
  const auto its = server.wait();
  if (!theirs || !its)
    return tl::make_unexpected(!theirs ? theirs.error() : its.error());
  const auto cpu =
    theirs->cpu_seconds + its->cpu_seconds - (*scene)->board->cpu_before;
  const auto bytes = static_cast<double>(versions) * offers_a_version
                     * static_cast<double>(offer_bytes);
  return cpu / bytes;
}

/// CPU of both ends for a byte that ZeroMQ alone brings.
result<double> bare_seconds_per_byte() {
  constexpr std::uint64_t bytes = std::uint64_t{2} << 30;
  const shared_page<told_address> address;
  helper_process far{[&]() -> result<void> {
    bare::take([&](const std::string& x) { address->tell(x); }, bytes);
    return {};
  }};
  helper_process near{[&]() -> result<void> {
    return address->get().map([&](const std::string& x) {
      bare::give(x, bytes, head_bytes, std::size_t{256} << 10);
    });
  }};
  const auto gave = near.wait();
  const auto took = far.wait();
  if (!gave || !took)
    return tl::make_unexpected(!gave ? gave.error() : took.error());
  return (gave->cpu_seconds + took->cpu_seconds) / static_cast<double>(bytes);
}

result<sample> upload() {
  constexpr double gigabyte = 1e9;
  const auto ours = upload_seconds_per_byte(4);
  if (!ours)
    return tl::make_unexpected(ours.error());
  return bare_seconds_per_byte().map([&](double x) {
    return sample{*ours * gigabyte, x * gigabyte};
  });
}

} // namespace

std::vector<figure> wire_figures() {
  const std::string echo = "an echo by ZeroMQ alone";
  return {{.name = "control_rate",
           .unit = "1/s",
           .compared_with = echo,
           .bar = 0.25,
           .repetitions = 3,
           .once = control_rate},
          {.name = "control_p99",
           .unit = "ms",
           .compared_with = echo,
           .bar = 5,
           .repetitions = 3,
           .once = control_p99},
          {.name = "upload",
           .unit = "ms/GB",
           .compared_with = "a pass by ZeroMQ alone",
           .bar = 3.5,
           .repetitions = 3,
           .once = upload}};
}

} // namespace troupe::node
