// Of the thread that has the socket: how it listens or dials, and with which
// keys.

#include <algorithm>
#include <cerrno>
#include <utility>

#include "actors/transport/peers.hpp"
#include "actors/transport/zmq/set_up.hpp"
#include "actors/transport/zmq/socket_thread.hpp"
#include "core/hex.hpp"

namespace troupe::transport {

namespace {

constexpr std::chrono::seconds busy_max{10}; ///< Beyond it one is behind.

} // namespace

void socket_thread::start() {
  if (side_ == side::server) {
    if (options_.door)
      door_.emplace(context_, *options_.door, options_.refused);
    open_door();
    bind();
  } else {
    set_up_dialler(socket_, address_);
    if (options_.keys) {
      std::vector all{options_.keys->server};
      all.insert(all.end(), options_.keys->later.begin(),
                 options_.keys->later.end());
      choice_.emplace(std::move(all));
    }
    monitor_.emplace(context_, socket_, connection_monitor::of_one);
    (void)places_.add(0);
    connect();
  }
  thread_ = std::thread{[this] { work(); }};
}

void socket_thread::open_door() {
  set_up_server(socket_, address_);
  if (!door_)
    return;
  door_->guard(socket_);
  monitor_.emplace(context_, socket_, connection_monitor::of_strangers,
                   doors_++);
}

// It is there a little while after the one before has been closed.
void socket_thread::bind() {
  socket_.bind(address_);
  address_ = socket_.get(zmq::sockopt::last_endpoint);
  const std::lock_guard guard{mutex_};
  is_bound_ = true;
}

void socket_thread::connect() {
  if (options_.keys) {
    const std::lock_guard guard{mutex_};
    use_keys(socket_, options_.keys->own, choice_->now());
    choice_->dialled();
  }
  socket_.connect(address_);
  dial_at_.reset();
}

void socket_thread::hang_up(instant until) {
  // Of a connection that broke a rule there may be nothing left.
  zmq_disconnect(socket_.handle(), address_.c_str());
  dial_at_ = until;
}

bool socket_thread::dials() const noexcept {
  return side_ == side::dialler;
}

bool socket_thread::is_unsettled() {
  const std::lock_guard guard{mutex_};
  return dial_at_ || (!dials() && !is_bound_)
         || (door_ && door_->looks_again());
}

void socket_thread::see_to_connections() {
  if (!dials()) {
    ask_for_keys_anew();
    return change_door();
  }
  dial_anew_after_silence();
  if (dial_at_ && steady_now() >= *dial_at_)
    connect();
}

void socket_thread::dial_anew_after_silence() {
  const auto now = steady_now();
  {
    const std::lock_guard guard{mutex_};
    auto& only = *places_.find(0);
    if (now < silence_.ends(only.link.is_open()))
      return;
    silence_.broken(now);
    only.unsent.reset();
    only.link.lost();
  }
  ++counts_.dialled_anew;
  say_connection(false);
  hang_up(now);
}

void socket_thread::look_at_keys() {
  {
    const std::lock_guard guard{mutex_};
    keys_changed_ = true;
  }
  bell_->ring();
}

void socket_thread::ask_for_keys_anew() {
  const std::lock_guard guard{mutex_};
  if (!std::exchange(keys_changed_, false) || !door_)
    return;
  door_->forget();
  const auto now = steady_now();
  for (const auto& [number, x] : places_.all())
    if (!door_->admits(x.user, now))
      due_.insert(number);
}

// libzmq cannot close one connection: whoever has it is to do so.
bool socket_thread::turns_out(place& to) {
  if (!door_ || !to.link.is_open() || door_->admits(to.user, steady_now()))
    return false;
  const auto word = to.link.last_word(messages::farewell{
    messages::farewell_reason::refused, "its key is allowed no longer"});
  // Who does not read finds out as who was away does.
  if (word
      && send_piece(socket_, {to.route, joined_bytes_max(to)}, *word)
           == sending::done)
    count_sent(to, *word);
  const std::lock_guard guard{mutex_};
  to.unsent.reset();
  places_.dismissed(to, steady_now());
  bell_->ring(); // Others may have waited for its room.
  return true;
}

void socket_thread::has_parted(std::uint64_t link) {
  const std::lock_guard guard{mutex_};
  if (auto* found = places_.find(link))
    found->has_parted = true;
}

void socket_thread::listen_with(const key_pair& x) {
  {
    const std::lock_guard guard{mutex_};
    next_pair_ = x;
  }
  bell_->ring();
}

std::optional<public_key> socket_thread::listens_with() {
  const std::lock_guard guard{mutex_};
  return door_ && is_bound_ && !next_pair_ ? std::optional{door_->key()}
                                           : std::nullopt;
}

void socket_thread::announce(std::uint64_t link, const announcement& x) {
  const std::lock_guard guard{mutex_};
  auto* found = places_.find(link);
  if (found == nullptr)
    return;
  found->link.announce(x);
  due_.insert(link);
  if (std::exchange(asleep_, false))
    bell_->ring();
}

void socket_thread::change_door() {
  if (const auto next = wanted_pair()) {
    // What has arrived is of those who had the key of then.
    for (int i = 0; i < turns_before_a_change && hear_some(); ++i)
      ;
    monitor_.reset();
    socket_.close();
    {
      const std::lock_guard guard{mutex_};
      places_.all_lost(steady_now());
      door_->use(*next);
    }
    socket_ = zmq::socket_t{context_, zmq::socket_type::router};
    open_door();
    has_pair(*next);
  }
  if (is_bound_)
    return;
  try {
    bind();
  } catch (const zmq::error_t& e) {
    if (e.num() != EADDRINUSE)
      throw;
  }
}

std::optional<key_pair> socket_thread::wanted_pair() {
  const std::lock_guard guard{mutex_};
  if (!next_pair_ || !door_)
    return std::nullopt;
  is_bound_ = false;
  return next_pair_;
}

// Whatever failed before is tried again.
void socket_thread::has_pair(const key_pair& x) {
  const std::lock_guard guard{mutex_};
  if (next_pair_ && next_pair_->open == x.open)
    next_pair_.reset();
}

void socket_thread::follow_connections() {
  if (door_)
    door_->answer(steady_now());
  while (const auto what = monitor_ ? monitor_->next() : std::nullopt) {
    if (dials())
      follow(*what);
    else if (*what == connection_event::broken)
      ++counts_.broken;
    else
      options_.refused->add(refusal::no_key, steady_now());
  }
}

void socket_thread::follow(connection_event seen) {
  if (dial_at_) // It is of the connection that was given up.
    return;
  const auto what = handshakes_.timed(seen, steady_now());
  if (what == connection_event::begun)
    return;
  const bool there = what == connection_event::made;
  {
    const std::lock_guard guard{mutex_};
    auto& only = places_.all().begin()->second;
    only.unsent.reset();
    silence_.broken(steady_now());
    if (there)
      only.link.connected(++connection_);
    else
      only.link.lost();
    due_.insert(only.number);
  }
  counts_.refused += what == connection_event::refused;
  counts_.unlike += what == connection_event::unlike;
  counts_.broken += seen == connection_event::broken;
  const auto keys = choose_key(what);
  if (const auto why = handshakes_.heard(what, keys); why && options_.away)
    options_.away(*why);
  say_connection(there);
}

int socket_thread::choose_key(connection_event what) {
  if (!choice_)
    return 1;
  const std::lock_guard guard{mutex_};
  const auto keys = static_cast<int>(choice_->size());
  if (what == connection_event::broken)
    if (const auto pause = choice_->broken())
      // By then all that the one before has to say is here.
      hang_up(steady_now() + std::max<instant>(*pause, unsettled_pause));
  return keys;
}

// Not before its first word: what a monitor says may be of a connection that
// was given up, with another key.
void socket_thread::has_spoken() {
  std::unique_lock guard{mutex_};
  if (!choice_ || !choice_->met())
    return;
  const auto who = choice_->now();
  guard.unlock();
  if (options_.met)
    options_.met(who);
}

void socket_thread::say_connection(bool there) {
  if (std::exchange(there_, there) == there)
    return;
  ++(there ? counts_.made : counts_.lost);
  if (options_.connection)
    options_.connection(there);
}

std::vector<std::uint64_t> socket_thread::links_here(instant lately) {
  const std::lock_guard guard{mutex_};
  return places_.here(steady_now() - lately);
}

std::vector<std::uint64_t> socket_thread::links_heard(instant lately) {
  const std::lock_guard guard{mutex_};
  return places_.heard(steady_now() - lately);
}

places_seen socket_thread::look() {
  const std::lock_guard guard{mutex_};
  auto out = places_.look(steady_now() - busy_max);
  out.unhandled_bytes_max = room_->most();
  out.unhandled_frames = room_->frames();
  out.unhandled_frames_max = room_->frames_max();
  return out;
}

std::uint64_t socket_thread::unhandled_bytes() const {
  return room_->now();
}

std::optional<public_key> socket_thread::key_of(peer_id x) {
  const std::lock_guard guard{mutex_};
  const auto* found = places_.find(link_of(x));
  return found ? from_hex<32>(found->user) : std::nullopt;
}

} // namespace troupe::transport
