#include "actors/transport/zmq/socket_endpoint.hpp"

#include <algorithm>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "actors/transport/envelope.hpp"
#include "actors/transport/places.hpp"
#include "actors/transport/zmq/door.hpp"
#include "actors/transport/zmq/monitor.hpp"
#include "actors/transport/zmq/pieces.hpp"
#include "actors/transport/zmq/set_up.hpp"
#include "actors/transport/zmq/wakeup.hpp"
#include "core/clock.hpp"
#include "core/hex.hpp"

namespace troupe::transport {

namespace {

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
                                         [bell = bell_] { bell->ring(); })),
      silence_(options_.patience, steady_now()) {
    // nop
  }

  ~socket_thread() override {
    close();
  }

  /// @throws zmq::error_t
  void start() {
    if (side_ == side::server) {
      set_up_server(socket_, address_);
      if (options_.door) {
        door_.emplace(context_, *options_.door, options_.refused);
        door_->guard(socket_);
        monitor_.emplace(context_, socket_, connection_monitor::of_strangers);
      }
      socket_.bind(address_);
      address_ = socket_.get(zmq::sockopt::last_endpoint);
    } else {
      set_up_dialler(socket_, address_);
      if (options_.keys)
        use_keys(socket_, *options_.keys);
      monitor_.emplace(context_, socket_, connection_monitor::of_one);
      (void)places_.add(0);
      socket_.connect(address_);
    }
    thread_ = std::thread{[this] { work(); }};
  }

  std::size_t send(peer_id to, messages::any_message x) override {
    const auto size = encoded_size(x);
    const channel_id channel{to.value
                             & ((std::uint64_t{1} << channel_bits) - 1)};
    const std::lock_guard guard{mutex_};
    auto* found = places_.find(to.value >> channel_bits);
    if (found == nullptr)
      return size; // It is gone.
    const auto what = places_.is_greedy(*found) ? outbox::taken::no_room
                                                : found->link.say(channel, x);
    if (what == outbox::taken::no_room)
      ++counts_.messages_without_room;
    due_.insert(found->number);
    if (std::exchange(asleep_, false)) // Who is awake looks for itself.
      bell_->ring();
    return what == outbox::taken::already ? 0 : size;
  }

  const std::string& address() const override {
    return address_;
  }

  const socket_counts& counts() const override {
    return counts_;
  }

  std::vector<std::uint64_t> links_here(instant lately) override {
    const std::lock_guard guard{mutex_};
    return places_.here(steady_now() - lately);
  }

  std::optional<public_key> key_of(peer_id x) override {
    const std::lock_guard guard{mutex_};
    const auto* found = places_.find(x.value >> channel_bits);
    return found ? from_hex<32>(found->user) : std::nullopt;
  }

  void drain(std::chrono::milliseconds most) override {
    for (const auto until = steady_now() + most; steady_now() < until;) {
      {
        const std::lock_guard guard{mutex_};
        if (places_.is_idle())
          return;
      }
      std::this_thread::sleep_for(blocked_pause);
    }
  }

  void close() override {
    stopped_ = true;
    bell_->ring();
    if (!thread_.joinable())
      return;
    thread_.join();
    monitor_.reset();
    socket_.close();
    door_.reset();
  }

private:
  void work() {
    while (!stopped_) {
      try {
        dial_anew_after_silence();
        const bool blocked = send_what_is_due();
        follow_connections();
        if (!hear_some() && falls_asleep(blocked))
          wait(blocked                         ? blocked_pause
               : is_short_of_room() || dials() ? probe_pause
                                               : std::chrono::milliseconds{-1});
      } catch (const std::exception&) { // Of ZeroMQ, or for want of memory.
        ++counts_.failures;
        std::this_thread::sleep_for(probe_pause);
      }
    }
  }

  bool dials() const noexcept {
    return side_ == side::dialler;
  }

  void dial_anew_after_silence() {
    if (!dials())
      return;
    const auto now = steady_now();
    const std::lock_guard guard{mutex_};
    auto& only = *places_.find(0);
    if (now < silence_.ends(only.link.is_open()))
      return;
    silence_.broken(now);
    only.unsent.reset();
    only.link.lost();
    ++counts_.dialled_anew;
    // Of a connection that broke a rule there may be nothing left.
    zmq_disconnect(socket_.handle(), address_.c_str());
    socket_.connect(address_);
  }

  /// From now on who has something to send rings. False: there is something.
  bool falls_asleep(bool blocked) {
    const std::lock_guard guard{mutex_};
    return asleep_ = blocked || due_.empty();
  }

  /// Somebody waits for room; those who have it may be gone.
  bool is_short_of_room() {
    const std::lock_guard guard{mutex_};
    if (waiting_.empty() || steady_now() < probe_at_)
      return !waiting_.empty();
    probe_at_ = steady_now() + probe_pause;
    if (!dials())
      places_.forget_silent_holders(probe_at_ - silent_holder_max);
    for (auto& [number, x] : places_.all()) {
      x.link.probe();
      due_.insert(number);
    }
    return true;
  }

  void wait(std::chrono::milliseconds most) {
    if (wait_for({socket_.handle(), monitor_ ? monitor_->handle() : nullptr,
                  door_ ? door_->handle() : nullptr},
                 bell_->fd(), most))
      bell_->quiet();
    const std::lock_guard guard{mutex_};
    asleep_ = false;
  }

  /// Of who dialled: what has become of its connection. Of a server: who came
  /// without a key, and who asks whether its key is good.
  void follow_connections() {
    if (door_)
      door_->answer(steady_now());
    while (const auto what = monitor_ ? monitor_->next() : std::nullopt) {
      if (dials())
        follow(*what);
      else
        options_.refused->add(refusal::no_key, steady_now());
    }
  }

  void follow(connection_event what) {
    {
      const std::lock_guard guard{mutex_};
      auto& only = places_.all().begin()->second;
      only.unsent.reset();
      silence_.broken(steady_now());
      if (what == connection_event::made)
        only.link.connected(++connection_);
      else
        only.link.lost();
      due_.insert(only.number);
    }
    if (const auto why = handshakes_.heard(what); why && options_.away)
      options_.away(*why);
  }

  /// True: some of it has to wait for ZeroMQ.
  bool send_what_is_due() {
    bool blocked = false;
    bool more = true;
    while (more && !stopped_) {
      more = false;
      for (const auto number : taken_due()) {
        auto* found = places_.find(number); // Only this thread changes it.
        if (found == nullptr) {
          const std::lock_guard guard{mutex_};
          waiting_.erase(number);
          continue;
        }
        const auto sent = send_some(*found);
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
          places_.lost(to, steady_now());
          bell_->ring(); // Others may have waited for its room.
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
    if (door_ && !door_->admits(to.user, steady_now()))
      return std::nullopt;
    auto out = to.unsent ? std::exchange(to.unsent, {}) : to.link.next();
    if (to.link.waits_for_room())
      waiting_.insert(to.number);
    else
      waiting_.erase(to.number);
    return out;
  }

  /// False: there was nothing.
  bool hear_some() {
    for (int i = 0; i < pieces_per_turn; ++i) {
      const auto message = receive(socket_, side_ == side::server);
      if (!message)
        return i > 0;
      for (const auto& part : message->rest)
        counts_.bytes_in += part.size();
      if (door_ && !door_->hears(message->user, steady_now()))
        continue; // Unread: libzmq has no way to close one connection.
      auto found = hear(*message);
      if (const auto again = std::exchange(met_again_, {});
          again && options_.met_again)
        options_.met_again(*again);
      if (!found)
        ++counts_.pieces_malformed;
      else if (*found)
        options_.arrived(std::move(**found));
    }
    return true;
  }

  result<std::optional<frame_arrived>> hear(const parts& message) {
    const auto read = piece_in(message);
    if (!read)
      return tl::make_unexpected(read.error());
    if (door_ && !door_->hears(*read, message.user, steady_now()))
      return std::optional<frame_arrived>{};
    const std::lock_guard guard{mutex_};
    silence_.broken(steady_now());
    auto* from = dials() ? places_.find(0)
                         : places_.of(message.route, message.user, *read);
    if (from == nullptr)
      return std::optional<frame_arrived>{};
    from->heard = ++messages_;
    from->spoke_at = steady_now();
    const auto before = from->link.other();
    const bool was_open = from->link.is_open();
    auto found = from->link.heard(*read);
    if (before && !was_open && from->link.is_open())
      met_again_ = before != from->link.other();
    counts_.connections += !before && from->link.other();
    due_.insert(from->number);
    if (!found)
      return tl::make_unexpected(found.error());
    if (!*found)
      return std::optional<frame_arrived>{};
    const peer_id peer{from->number << channel_bits | (*found)->channel.value};
    return std::optional{frame_arrived{peer, std::move((*found)->what)}};
  }

  const side side_;
  const options options_;
  std::string address_;
  zmq::context_t context_;
  zmq::socket_t socket_;
  std::optional<door> door_; ///< Of a server with keys.
  std::optional<connection_monitor> monitor_;
  handshakes handshakes_{options_.keys.has_value()};
  const std::shared_ptr<wakeup> bell_ = std::make_shared<wakeup>();
  const std::shared_ptr<held_bytes> room_;
  socket_counts counts_;
  std::atomic<bool> stopped_{false};

  std::mutex mutex_; ///< Of what follows; places come and go on the thread.
  places places_{[this, landing = new_landing_pool()](std::uint64_t number) {
    return link_options(options_, room_, landing, number);
  }};
  std::set<std::uint64_t> due_;     ///< There may be something to send.
  std::set<std::uint64_t> waiting_; ///< For room.
  bool asleep_ = false;             ///< The thread polls, or is about to.
  std::uint64_t messages_ = 0;
  std::uint32_t connection_ = 0;
  silence silence_;
  instant probe_at_{};
  std::optional<bool> met_again_; ///< Another one? Of the thread alone.
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
    return cannot(which == socket_thread::side::server ? "listen" : "dial",
                  address, e);
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
