#include "actors/transport/zmq/socket_thread.hpp"

#include <algorithm>
#include <utility>

#include "actors/transport/envelope.hpp"
#include "actors/transport/peers.hpp"
#include "actors/transport/zmq/set_up.hpp"

namespace troupe::transport {

socket_thread::socket_thread(side which, options x)
  : side_(which),
    options_(std::move(x)),
    address_(options_.address),
    context_(lean_context()),
    socket_(context_, which == side::server ? zmq::socket_type::router
                                            : zmq::socket_type::dealer),
    room_(std::make_shared<held_bytes>(options_.unhandled_bytes_max,
                                       [bell = bell_] { bell->ring(); })),
    places_(
      [this, landing = new_landing_pool(options_)](
        std::uint64_t number, std::shared_ptr<held_bytes> room) {
        return link_options(options_, std::move(room), landing, number);
      },
      room_),
    silence_(options_.patience, steady_now()) {
  // nop
}

socket_thread::~socket_thread() {
  close();
}

std::size_t socket_thread::send(peer_id to, messages::any_message x) {
  const auto size = encoded_size(x);
  const std::lock_guard guard{mutex_};
  auto* found = places_.find(link_of(to));
  if (found == nullptr)
    return size; // It is gone.
  if (!found->busy_since)
    found->busy_since = steady_now();
  const auto what = places_.is_greedy(*found)
                      ? outbox::taken::no_room
                      : found->link.say(channel_of(to), x);
  if (what == outbox::taken::no_room)
    ++counts_.messages_without_room;
  due_.insert(found->number);
  if (std::exchange(asleep_, false)) // Who is awake looks for itself.
    bell_->ring();
  return what == outbox::taken::already ? 0 : size;
}

void socket_thread::has_session(peer_id x) {
  const std::lock_guard guard{mutex_};
  if (auto* found = places_.find(link_of(x)))
    found->link.has_session();
}

const std::string& socket_thread::address() const {
  return address_;
}

const socket_counts& socket_thread::counts() const {
  return counts_;
}

void socket_thread::drain(std::chrono::milliseconds most) {
  for (const auto until = steady_now() + most; steady_now() < until;) {
    {
      const std::lock_guard guard{mutex_};
      if (places_.is_idle())
        return;
    }
    std::this_thread::sleep_for(blocked_pause);
  }
}

void socket_thread::close() {
  stopped_ = true;
  bell_->ring();
  if (!thread_.joinable())
    return;
  thread_.join();
  monitor_.reset();
  socket_.close();
  door_.reset();
}

void socket_thread::work() {
  while (!stopped_) {
    try {
      see_to_connections();
      const auto blocked = send_what_is_due();
      follow_connections();
      if (!rests(blocked) && !hear_some() && falls_asleep(blocked))
        wait(blocked > 0            ? blocked_pause
             : is_unsettled()       ? unsettled_pause
             : is_short_ || dials() ? probe_pause
                                    : std::chrono::milliseconds{-1});
    } catch (const std::exception&) { // Of ZeroMQ, or for want of memory.
      ++counts_.failures;
      std::this_thread::sleep_for(probe_pause);
    }
  }
}

// At each turn, under a lock that is held anyhow. Mostly nobody waits, and then
// it does not matter what time it is.
void socket_thread::look_after_room() {
  const bool waits = !places_.waiting().empty();
  is_short_ = waits || places_.keeps_room();
  if (!is_short_)
    return;
  const auto now = steady_now();
  if (now < probe_at_)
    return;
  probe_at_ = now + probe_pause;
  places_.forget_gone(now);
  if (!waits)
    return;
  if (!dials())
    places_.forget_silent_holders(probe_at_ - silent_holder_max);
  for (auto& [number, x] : places_.all()) {
    x.link.probe();
    due_.insert(number);
  }
}

// What is blocked is due again, and so is whoever has more than a turn's worth.
bool socket_thread::falls_asleep(std::size_t blocked) {
  const std::lock_guard guard{mutex_};
  look_after_room();
  return asleep_ = may_sleep({.blocked = blocked, .due = due_.size()});
}

void socket_thread::wait(std::chrono::milliseconds most) {
  if (wait_for({socket_.handle(), monitor_ ? monitor_->handle() : nullptr,
                door_ ? door_->handle() : nullptr},
               bell_->fd(), most))
    bell_->quiet();
  const std::lock_guard guard{mutex_};
  asleep_ = false;
}

// Who has more is due again, after what came meanwhile was heard.
std::size_t socket_thread::send_what_is_due() {
  std::size_t blocked = 0;
  for (const auto number : taken_due()) {
    auto* found = places_.find(number); // Only this thread changes it.
    if (found != nullptr)
      blocked += send_some(*found) ? 0 : 1;
  }
  return blocked;
}

std::set<std::uint64_t> socket_thread::taken_due() {
  const std::lock_guard guard{mutex_};
  look_after_room();
  counts_.lost += places_.take_lost();
  auto out = std::exchange(due_, {});
  // There may be room now for what waits.
  out.insert(places_.waiting().begin(), places_.waiting().end());
  return out;
}

std::size_t socket_thread::count_sent(const place& to, const piece& x) {
  const auto bytes = piece_head_size + x.body.bytes.size();
  const auto now = steady_now();
  counts_.out.add(sent_.sort(to.number, x, now), bytes);
  for (const auto& asked : sent_.take_questions())
    heard_.was_asked(to.link.other().value_or(0), asked, now);
  if (const auto whole = sent_.take_carried())
    counts_.out.add(*whole);
  counts_.bytes_out += bytes;
  return bytes;
}

// False: ZeroMQ takes no more.
bool socket_thread::send_some(place& to) {
  if (turns_out(to))
    return true;
  std::size_t bytes = 0;
  for (int i = 0; i < pieces_per_turn && bytes < bytes_per_turn; ++i) {
    const bool is_new = !to.unsent;
    const auto next = take_next(to);
    if (!next || (is_new && !leaves(*next)))
      return true;
    switch (send_piece(socket_, {to.route, joined_bytes_max(to)}, *next)) {
      case sending::done:
        bytes += count_sent(to, *next);
        break;
      case sending::blocked: {
        const std::lock_guard guard{mutex_};
        to.unsent = *next;
        due_.insert(to.number);
        return false;
      }
      case sending::nobody: {
        const std::lock_guard guard{mutex_};
        places_.lost(to, steady_now());
        bell_->ring(); // Others may have waited for its room.
        return true;
      }
    }
  }
  const std::lock_guard guard{mutex_};
  due_.insert(to.number);
  return true;
}

// A copy costs less than a part: with keys each is encrypted by itself.
std::size_t socket_thread::joined_bytes_max(const place& to) const {
  constexpr std::size_t without_keys = 1024;
  if (!to.link.may_join_parts())
    return 0;
  return door_ || options_.keys ? options_.frame_bytes_max : without_keys;
}

bool socket_thread::leaves(const piece& x) {
  is_mute_ = options_.leaving && !options_.leaving(x);
  return !is_mute_;
}

std::optional<piece> socket_thread::take_next(place& to) {
  const std::lock_guard guard{mutex_};
  if (is_mute_ || (side_ == side::server && to.route.empty()))
    return std::nullopt;
  if (door_ && !door_->admits(to.user, steady_now()))
    return std::nullopt;
  auto out = places_.next(to, steady_now());
  if (!out && to.link.is_idle())
    to.busy_since.reset();
  const bool waits = !out && to.link.waits_for_credit();
  if (!std::exchange(to.waits_for_credit, waits) && waits)
    ++counts_.credit_waits;
  return out;
}

bool socket_thread::hear_some() {
  int beyond = 0;
  std::size_t bytes = 0;
  for (int i = 0; i < pieces_per_turn && bytes < bytes_per_turn; ++i) {
    const auto message = receive(socket_, side_ == side::server);
    if (!message)
      return i > 0;
    bytes += hear_one(*message);
    // What is due goes first; but each connection has its turn, and one key may
    // have many.
    if (rests_until_ != instant{} && ++beyond == pieces_beyond_share)
      return true;
  }
  return true;
}

// Others' answers go out meanwhile.
bool socket_thread::rests(std::size_t blocked) {
  const auto now = steady_now();
  if (rests_until_ <= now) {
    rests_until_ = {};
    return false;
  }
  if (!falls_asleep(blocked))
    return true;
  if (bell_->wait(
        nap_in(rests_until_ - now, {.blocked = blocked, .due = blocked})))
    bell_->quiet();
  const std::lock_guard guard{mutex_};
  asleep_ = false;
  return true;
}

std::size_t socket_thread::hear_one(const parts& message) {
  std::size_t bytes = 0;
  for (const auto& part : message.rest)
    bytes += part.size();
  auto what = crossing::unheard;
  auto found = hear(message, steady_now(), what);
  counts_.bytes_in += bytes;
  counts_.in.add(what, bytes);
  tell_what_was_heard();
  if (!found) {
    ++counts_.pieces_malformed;
    return bytes;
  }
  for (auto& x : *found)
    options_.arrived(std::move(x));
  return bytes;
}

void socket_thread::tell_what_was_heard() {
  if (std::exchange(opened_, false))
    has_spoken();
  if (const auto again = std::exchange(met_again_, {});
      again && options_.met_again)
    options_.met_again(*again);
  const auto next = std::exchange(announced_, {});
  if (!next)
    return;
  if (options_.announced)
    options_.announced(*next);
  const std::lock_guard guard{mutex_};
  if (choice_)
    choice_->add(next->next);
}

result<std::vector<frame_arrived>>
socket_thread::hear(const parts& message, instant now, crossing& what) {
  if (door_ && !door_->hears(message.user, now))
    return std::vector<frame_arrived>{}; // libzmq cannot close one connection.
  // ROUTER's own begin with a zero: who chose one might take another's.
  if (!dials() && !message.route.starts_with('\0'))
    return fail(errc::malformed_message, "it chose its routing id");
  const auto read = piece_in(message);
  if (!read)
    return tl::make_unexpected(read.error());
  if (!is_within_budget(*read, message, now)
      || (door_ && !door_->hears(*read, message.user, now)))
    return std::vector<frame_arrived>{};
  return hear(*read, message, now, what);
}

// What a transfer may bring is bounded by the room that it was given.
bool socket_thread::is_within_budget(const piece& x, const parts& message,
                                     instant now) {
  const auto& who = door_ ? message.user : message.route;
  if (dials() || x.kind == piece_kind::chunk)
    return true;
  // Who says that it has none has said one.
  const auto count =
    std::clamp<std::uint64_t>(frames_claimed(x), 1, frames_per_bundle_max);
  if (const auto rest = shares_.heard(who, now, count); rest > instant{})
    rests_until_ = now + rest;
  if (spoken_.takes(who, now, count))
    return true;
  options_.refused->add(refusal::too_many_frames, now);
  return false;
}

result<std::vector<frame_arrived>> socket_thread::hear(const piece& read,
                                                       const parts& message,
                                                       instant now,
                                                       crossing& what) {
  const std::lock_guard guard{mutex_};
  silence_.broken(now);
  const bool was_there = places_.has(message.route);
  auto* from =
    dials() ? places_.find(0) : places_.of(message.route, message.user, read);
  std::vector<frame_arrived> out;
  if (from == nullptr)
    return out;
  from->heard = ++messages_;
  const auto before = from->link.other();
  const bool was_open = from->link.is_open();
  const auto dropped = room_->dropped();
  auto found = from->hear(read, now);
  if (!dials() && dropped < room_->dropped())
    options_.refused->add(refusal::too_many_frames, now);
  opened_ = dials() && !was_open && from->link.is_open();
  if (before && !was_open && from->link.is_open())
    met_again_ = before != from->link.other();
  announced_ = from->link.take_announced();
  counts_.connections += !before && from->link.other();
  const bool is_repeated = was_open && was_there;
  if (!dials() && found && read.kind == piece_kind::opened && !is_repeated) {
    ++counts_.made;
    counts_.lost += was_open; // Unseen: it speaks over another one.
  }
  due_.insert(from->number);
  if (!found)
    return tl::make_unexpected(found.error());
  what = heard_.sort(from->link.other().value_or(0), read, now);
  for (const auto& asked : heard_.take_questions())
    sent_.was_asked(from->number, asked, now);
  if (const auto whole = heard_.take_carried())
    counts_.in.add(*whole);
  out.reserve(found->size());
  for (auto& [channel, body] : *found)
    out.push_back({peer_of(from->number, channel), std::move(body)});
  return out;
}

} // namespace troupe::transport
