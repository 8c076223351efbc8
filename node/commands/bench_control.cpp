#include "node/commands/bench_control.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "actors/transport/piece.hpp"
#include "actors/transport/zmq/socket_endpoint.hpp"
#include "core/clock.hpp"
#include "node/commands/bench_bare.hpp"
#include "node/commands/bench_wire.hpp"
#include "node/commands/served_scene.hpp"

namespace troupe::node {

namespace {

/// What `invited` and `visit_declined` take on the wire, about.
constexpr std::size_t small_frame_bytes = 108;

constexpr double wall_seconds = 2;
constexpr int many_in_flight = 64;

/// Until uploads land in memory that was used before.
constexpr std::chrono::seconds uploads_settle{8};

struct conversation {
  int in_flight = 1;
  bool keys = false;
};

/// Clients that say the next small frame as soon as they hear the one before.
class talker {
public:
  enum class about : std::uint8_t { declines, beats };

  talker(const served_scene& scene, about what, std::uint32_t count)
    : scene_(scene),
      what_(what),
      count_(count),
      said_(scene.x.clients.clients + 1) {
    // nop
  }

  result<pace_of_frames> talk(double wall) {
    if (auto there = wait_for_answer(scene_); !there)
      return tl::make_unexpected(there.error());
    const auto address = scene_.board->address.get();
    if (!address)
      return tl::make_unexpected(address.error());
    transport::socket_endpoint::options how;
    how.address = *address;
    how.bytes_max = [](std::uint16_t) { return std::uint64_t{1} << 30; };
    how.instance = static_cast<std::uint64_t>(steady_now().count());
    if (const auto& keys = scene_.guests > 0 ? scene_.guest_keys : scene_.keys)
      how.keys = transport::dialler_keys{.own = keys->client,
                                         .server = keys->server.open};
    how.arrived = [this](transport::frame_arrived x) { heard(x); };
    auto made = transport::socket_endpoint::dial(std::move(how));
    if (!made)
      return tl::make_unexpected(made.error());
    socket_ = std::move(*made);
    messages::places_asked who;
    who.store.fill(7);
    who.count = count_;
    socket_->send(process_itself, who);
    for (const auto until = steady_now() + patience;
         answers_ < count_ && steady_now() < until;)
      std::this_thread::sleep_for(glance);
    std::this_thread::sleep_for(what_ == about::beats ? uploads_settle
                                                      : warming);
    counting_ = true;
    std::this_thread::sleep_for(from_seconds(wall));
    counting_ = false;
    socket_->close();
    if (taken_.empty())
      return fail(errc::invalid_config,
                  "no small frame was answered, of " + std::to_string(answers_)
                    + " before; the last word was '" + last_word_ + "'");
    return pace_of(taken_, wall);
  }

private:
  static constexpr peer_id process_itself{0};
  static constexpr std::chrono::minutes patience{1};
  static constexpr std::chrono::milliseconds glance{2};
  static constexpr std::chrono::milliseconds warming{1500};

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
    if (const auto* given = std::get_if<messages::places_given>(message->get()))
      for (const auto client : given->clients)
        socket_->send({client.value}, hello_of(client.value));
    if (const auto* bye = std::get_if<messages::farewell>(message->get()))
      last_word_ = bye->text;
    if (const auto* given = std::get_if<messages::places_given>(message->get());
        given && given->clients.empty())
      last_word_ = given->why;
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
    ++answers_;
    auto& said = said_.at(peer.value);
    if (counting_ && said != instant{})
      taken_.push_back(seconds(now - said));
    said = now;
    socket_->send(peer, std::move(x));
  }

  const served_scene& scene_;
  const about what_;
  const std::uint32_t count_;
  std::vector<instant> said_; ///< By client, when.
  std::vector<double> taken_; ///< Of the socket's thread, until it is closed.
  std::atomic<std::uint64_t> answers_{0};
  std::string last_word_; ///< Of who was sent away. Like `taken_`.
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

result<pace_of_frames> talk_in(const served_scene& scene, talker::about what,
                               std::uint32_t count) {
  const shared_page<pace_of_frames> seen;
  helper_process clients{[&]() -> result<void> {
    return talker{scene, what, count}
      .talk(wall_seconds)
      .map([&](const pace_of_frames& x) { *seen = x; });
  }};
  return clients.wait().map([&](const process_usage&) { return *seen; });
}

result<pace_of_frames> controlled(const conversation& x) {
  const auto scene = make_scene(
    control_text(x.in_flight),
    {.values = 1000, .offers = false, .keys = x.keys, .may_say_much = true});
  if (!scene)
    return tl::make_unexpected(scene.error());
  helper_process server{[&] { return serve(**scene); }};
  if (const auto there = told_by(server, (*scene)->board->address); !there)
    return tl::make_unexpected(there.error());
  auto done = talk_in(**scene, talker::about::declines,
                      static_cast<std::uint32_t>(x.in_flight));
  (*scene)->board->stop = true;
  (void)server.wait(); // To be interrupted is how it ends.
  return done;
}

/// Of somebody who speaks while others upload as fast as they can, and is one
/// of so many clients more.
result<pace_of_frames> beside_uploads(
  int more, bool keys,
  const std::function<result<pace_of_frames>(const served_scene&)>& spoken) {
  constexpr int uploaders = 4;
  const auto scene =
    make_scene(upload_text({.clients = uploaders + more, .versions = 1000}),
               {.values = offer_values,
                .on_disk = true,
                .keys = keys,
                .may_say_much = true,
                .guests = static_cast<std::size_t>(more)});
  if (!scene)
    return tl::make_unexpected(scene.error());
  helper_process server{[&] { return serve(**scene); }};
  if (const auto there = told_by(server, (*scene)->board->address); !there)
    return tl::make_unexpected(there.error());
  helper_process others{[&] { return take_part(**scene, uploaders); }};
  return spoken(**scene);
}

transport::bare::questions echo_of(const conversation& x) {
  return {.head_bytes = transport::piece_head_size,
          .body_bytes = small_frame_bytes,
          .in_flight = x.in_flight,
          .seconds = wall_seconds,
          .keys = drawn_keys(x.keys)};
}

result<sample> rate(bool keys) {
  const conversation how{.in_flight = many_in_flight, .keys = keys};
  const auto ours = controlled(how);
  if (!ours)
    return tl::make_unexpected(ours.error());
  return echoed(echo_of(how)).map([&](const pace_of_frames& x) {
    return sample{1 / ours->a_second, 1 / x.a_second};
  });
}

/// One client's beats. It has been invited, too, and takes no part.
result<pace_of_frames> beats_beside_uploads(bool keys) {
  return beside_uploads(1, keys, [](const served_scene& scene) {
    return talk_in(scene, talker::about::beats, 1);
  });
}

/// What ZeroMQ alone answers on this machine meanwhile.
result<pace_of_frames> echo_beside_uploads(bool keys) {
  return beside_uploads(0, keys, [&](const served_scene&) {
    std::this_thread::sleep_for(uploads_settle);
    return echoed(echo_of({.keys = keys}));
  });
}

result<sample> over_echo(const result<pace_of_frames>& ours, bool keys) {
  if (!ours)
    return tl::make_unexpected(ours.error());
  return echoed(echo_of({.keys = keys})).map([&](const pace_of_frames& x) {
    return sample{ours->p99_seconds, x.p99_seconds};
  });
}

} // namespace

std::vector<figure> control_figures() {
  const std::string echo = "an echo by ZeroMQ alone";
  std::vector<figure> out;
  for (const bool keys : {false, true}) {
    const std::string end = keys ? "_keys" : "";
    out.push_back({.name = "control_rate" + end,
                   .unit = "1/s",
                   .compared_with = echo,
                   .bar = keys ? 0.6 : 0.25,
                   .repetitions = 3,
                   .once = [=] { return rate(keys); }});
    out.push_back(
      {.name = "control_p99" + end,
       .unit = "ms",
       .compared_with = echo,
       .bar = 5,
       .repetitions = 3,
       .once = [=] { return over_echo(controlled({.keys = keys}), keys); }});
    const auto beside = "control_p99_beside_uploads" + end;
    const auto alone = echo + " with nothing beside it";
    out.push_back(
      {.name = beside,
       .unit = "ms",
       .compared_with = alone,
       .bar = 30,
       .repetitions = 3,
       .once = [=] { return over_echo(beats_beside_uploads(keys), keys); }});
    out.push_back(
      {.name = beside + "_of_an_echo",
       .unit = "ms",
       .compared_with = alone,
       .bar = std::nullopt,
       .repetitions = 3,
       .once = [=] { return over_echo(echo_beside_uploads(keys), keys); }});
  }
  return out;
}

} // namespace troupe::node
