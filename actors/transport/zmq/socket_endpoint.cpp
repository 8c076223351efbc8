#include "actors/transport/zmq/socket_endpoint.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "actors/transport/envelope.hpp"
#include "actors/transport/link_end.hpp"
#include "actors/transport/zmq/monitor.hpp"
#include "actors/transport/zmq/pieces.hpp"
#include "actors/transport/zmq/wakeup.hpp"

namespace troupe::transport {

namespace {

constexpr int pieces_queued_max = 64; ///< Within ZeroMQ, per connection.
constexpr int pieces_per_turn = 32;   ///< Of one link, before others.
constexpr std::chrono::milliseconds blocked_pause{2};

/// Pieces are as large as the other end wants them, up to this.
constexpr std::size_t piece_bytes_max = std::size_t{4} << 20;

constexpr unsigned channel_bits = 32;

/// A link and where its connection is.
struct place {
  std::uint64_t number = 0; ///< From 1; of who dialled: 0.
  link_end link;
  std::string route = {};           ///< Empty: nowhere. Of a ROUTER.
  std::optional<piece> unsent = {}; ///< What ZeroMQ had no room for.
  std::uint64_t heard = 0;          ///< When, in messages.
};

void set_up(zmq::socket_t& x) {
  x.set(zmq::sockopt::linger, 0);
  x.set(zmq::sockopt::sndhwm, pieces_queued_max);
  x.set(zmq::sockopt::rcvhwm, pieces_queued_max);
  x.set(zmq::sockopt::maxmsgsize,
        static_cast<std::int64_t>(piece_bytes_max + piece_head_size));
  x.set(zmq::sockopt::ipv6, true);
  x.set(zmq::sockopt::handshake_ivl, 5000);
}

class socket_thread final : public socket_endpoint {
public:
  enum class side : std::uint8_t { server, dialler };

  socket_thread(side which, options x)
    : side_(which),
      options_(std::move(x)),
      address_(options_.address),
      socket_(context_, which == side::server ? zmq::socket_type::router
                                              : zmq::socket_type::dealer),
      room_(std::make_shared<held_bytes>(options_.unhandled_bytes_max,
                                         [bell = bell_] { bell->ring(); })) {
    set_up(socket_);
  }

  ~socket_thread() override {
    close();
  }

  /// @throws zmq::error_t
  void start() {
    if (side_ == side::server) {
      socket_.set(zmq::sockopt::router_mandatory, true);
      socket_.bind(address_);
      address_ = socket_.get(zmq::sockopt::last_endpoint);
    } else {
      socket_.set(zmq::sockopt::immediate, true);
      socket_.set(zmq::sockopt::reconnect_ivl, 100);
      socket_.set(zmq::sockopt::reconnect_ivl_max, 1500);
      socket_.set(zmq::sockopt::heartbeat_ivl, 30'000);
      socket_.set(zmq::sockopt::heartbeat_timeout, 60'000);
      monitor_.emplace(context_, socket_);
      (void)add_place(0);
      socket_.connect(address_);
    }
    thread_ = std::thread{[this] { work(); }};
  }

  std::size_t send(peer_id to, messages::any_message x) override {
    const auto size = encoded_size(x);
    const channel_id channel{to.value
                             & ((std::uint64_t{1} << channel_bits) - 1)};
    const std::lock_guard guard{mutex_};
    const auto found = places_.find(to.value >> channel_bits);
    if (found == places_.end())
      return size; // It is gone.
    if (!found->second.link.say(channel, x))
      ++counts_.messages_without_room;
    if (due_.insert(found->first).second)
      bell_->ring();
    return size;
  }

  const std::string& address() const override {
    return address_;
  }

  const socket_counts& counts() const override {
    return counts_;
  }

  void close() override {
    stopped_ = true;
    bell_->ring();
    if (thread_.joinable())
      thread_.join();
  }

private:
  place& add_place(std::uint64_t number) {
    link_end::options x;
    x.out.frame_bytes_max = options_.frame_bytes_max;
    x.out.chunk_bytes = std::min(options_.chunk_bytes, piece_bytes_max);
    x.in.bytes_max = options_.bytes_max;
    x.in.room = room_;
    x.instance = options_.instance;
    auto& out = places_.emplace(number, place{number, link_end{std::move(x)}})
                  .first->second;
    out.heard = ++messages_;
    return out;
  }

  void work() {
    while (!stopped_) {
      const bool blocked = send_what_is_due();
      wait(blocked ? blocked_pause : std::chrono::milliseconds{-1});
      bell_->quiet();
      follow_connection();
      hear_some();
    }
  }

  void wait(std::chrono::milliseconds most) {
    zmq::pollitem_t items[] = {
      {socket_.handle(), 0, ZMQ_POLLIN, 0},
      {nullptr, bell_->fd(), ZMQ_POLLIN, 0},
      {monitor_ ? monitor_->handle() : nullptr, 0, ZMQ_POLLIN, 0}};
    zmq::poll(items, monitor_ ? 3 : 2, most);
  }

  /// Of who dialled: what has become of its connection.
  void follow_connection() {
    if (!monitor_)
      return;
    while (const auto what = monitor_->next()) {
      const bool there = *what == connection_event::made;
      {
        const std::lock_guard guard{mutex_};
        auto& only = places_.begin()->second;
        only.unsent.reset();
        if (there)
          only.link.connected(++connection_);
        else
          only.link.lost();
        due_.insert(only.number);
      }
      counts_.connections += there;
      if (options_.connected)
        options_.connected(there);
    }
  }

  /// True: some of it has to wait for ZeroMQ.
  bool send_what_is_due() {
    bool blocked = false;
    bool more = true;
    while (more && !stopped_) {
      more = false;
      for (const auto number : taken_due()) {
        const auto found = places_.find(number); // Only this thread changes it.
        if (found == places_.end())
          continue;
        const auto sent = send_some(found->second);
        blocked |= sent == progress::blocked;
        more |= sent == progress::more;
      }
    }
    return blocked;
  }

  std::set<std::uint64_t> taken_due() {
    const std::lock_guard guard{mutex_};
    auto out = std::exchange(due_, {});
    // There may be room now for what waits.
    out.insert(waiting_.begin(), waiting_.end());
    return out;
  }

  enum class progress : std::uint8_t { done, more, blocked };

  progress send_some(place& to) {
    for (int i = 0; i < pieces_per_turn; ++i) {
      const auto next = take_next(to);
      if (!next)
        return progress::done;
      switch (send_piece(socket_, to.route, *next)) {
        case sending::done:
          counts_.bytes_out += piece_head_size + next->body.bytes.size();
          break;
        case sending::blocked: {
          const std::lock_guard guard{mutex_};
          to.unsent = *next;
          due_.insert(to.number);
          return progress::blocked;
        }
        case sending::nobody: {
          const std::lock_guard guard{mutex_};
          routes_.erase(to.route);
          to.route.clear();
          to.link.lost();
          return progress::done;
        }
      }
    }
    const std::lock_guard guard{mutex_};
    due_.insert(to.number);
    return progress::more;
  }

  std::optional<piece> take_next(place& to) {
    const std::lock_guard guard{mutex_};
    if (side_ == side::server && to.route.empty())
      return std::nullopt;
    auto out = to.unsent ? std::exchange(to.unsent, {}) : to.link.next();
    if (to.link.waits_for_room())
      waiting_.insert(to.number);
    else
      waiting_.erase(to.number);
    return out;
  }

  void hear_some() {
    for (int i = 0; i < pieces_per_turn; ++i) {
      const auto message = receive(socket_, side_ == side::server);
      if (!message)
        return;
      for (const auto& part : message->rest)
        counts_.bytes_in += part.size();
      auto found = hear(*message);
      if (!found)
        ++counts_.pieces_malformed;
      else if (*found)
        options_.arrived(std::move(**found));
    }
  }

  result<std::optional<frame_arrived>> hear(const parts& message) {
    const auto read = piece_in(message);
    if (!read)
      return tl::make_unexpected(read.error());
    const std::lock_guard guard{mutex_};
    auto* from = place_of(message.route, *read);
    if (from == nullptr)
      return std::optional<frame_arrived>{};
    from->heard = ++messages_;
    auto found = from->link.heard(*read);
    due_.insert(from->number);
    if (!found)
      return tl::make_unexpected(found.error());
    if (!*found)
      return std::optional<frame_arrived>{};
    const peer_id peer{from->number << channel_bits | (*found)->channel.value};
    return std::optional{frame_arrived{peer, std::move((*found)->what)}};
  }

  /// Whom a piece is from. A link is found by what `opened` names; what comes
  /// before it is nobody's.
  place* place_of(const std::string& route, const piece& x) {
    if (side_ == side::dialler)
      return &places_.begin()->second;
    const auto known = routes_.find(route);
    if (x.kind != piece_kind::opened)
      return known == routes_.end() ? nullptr : &places_.at(known->second);
    const auto what = decode_record<opening>(x.body.bytes);
    if (!what)
      return nullptr;
    auto& to = place_with(what->instance);
    routes_.erase(to.route);
    if (known != routes_.end() && known->second != to.number)
      places_.at(known->second).route.clear();
    to.route = route;
    to.unsent.reset();
    routes_[route] = to.number;
    ++counts_.connections;
    return &to;
  }

  place& place_with(std::uint64_t instance) {
    if (const auto known = instances_.find(instance); known != instances_.end())
      return places_.at(known->second);
    if (places_.size() >= limits::links_max)
      forget_oldest();
    auto& out = add_place(++last_number_);
    instances_[instance] = out.number;
    return out;
  }

  void forget_oldest() {
    const auto oldest = std::ranges::min_element(
      places_, {}, [](const auto& x) { return x.second.heard; });
    const auto number = oldest->first;
    routes_.erase(oldest->second.route);
    std::erase_if(instances_,
                  [=](const auto& x) { return x.second == number; });
    due_.erase(number);
    waiting_.erase(number);
    places_.erase(oldest);
  }

  const side side_;
  const options options_;
  std::string address_;
  zmq::context_t context_;
  zmq::socket_t socket_;
  std::optional<connection_monitor> monitor_; ///< Of who dialled.
  const std::shared_ptr<wakeup> bell_ = std::make_shared<wakeup>();
  const std::shared_ptr<held_bytes> room_;
  socket_counts counts_;
  std::atomic<bool> stopped_{false};

  std::mutex mutex_; ///< Of what follows; places come and go on the thread.
  std::map<std::uint64_t, place> places_;
  std::map<std::string, std::uint64_t> routes_;
  std::map<std::uint64_t, std::uint64_t> instances_;
  std::set<std::uint64_t> due_;     ///< There may be something to send.
  std::set<std::uint64_t> waiting_; ///< For room.
  std::uint64_t messages_ = 0;
  std::uint64_t last_number_ = 0;
  std::uint32_t connection_ = 0;

  std::thread thread_;
};

result<std::shared_ptr<socket_endpoint>> start(socket_thread::side which,
                                               socket_endpoint::options x) {
  const auto address = x.address;
  try {
    auto made = std::make_shared<socket_thread>(which, std::move(x));
    made->start();
    return made;
  } catch (const zmq::error_t& e) {
    const bool listens = which == socket_thread::side::server;
    return fail(errc::invalid_config,
                std::string{listens ? "cannot listen at '" : "cannot dial '"}
                  + address + "': " + e.what());
  }
}

} // namespace

result<std::shared_ptr<socket_endpoint>> socket_endpoint::listen(options x) {
  return start(socket_thread::side::server, std::move(x));
}

result<std::shared_ptr<socket_endpoint>> socket_endpoint::dial(options x) {
  return start(socket_thread::side::dialler, std::move(x));
}

} // namespace troupe::transport
