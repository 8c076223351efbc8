#pragma once

// The thread that has a process's socket.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "actors/transport/key_choice.hpp"
#include "actors/transport/meter.hpp"
#include "actors/transport/places.hpp"
#include "actors/transport/zmq/door.hpp"
#include "actors/transport/zmq/monitor.hpp"
#include "actors/transport/zmq/pieces.hpp"
#include "actors/transport/zmq/socket_endpoint.hpp"
#include "actors/transport/zmq/wakeup.hpp"
#include "core/clock.hpp"

namespace troupe::transport {

class socket_thread final : public socket_endpoint {
public:
  enum class side : std::uint8_t { server, dialler };

  socket_thread(side which, options x);
  ~socket_thread() override;

  /// @throws zmq::error_t
  void start();

  std::size_t send(peer_id to, messages::any_message x) override;
  void has_session(peer_id x) override;
  const std::string& address() const override;
  const socket_counts& counts() const override;
  std::vector<std::uint64_t> links_here(instant lately) override;
  std::vector<std::uint64_t> links_heard(instant lately) override;
  places_seen look() override;
  std::uint64_t unhandled_bytes() const override;
  std::optional<public_key> key_of(peer_id x) override;
  void look_at_keys() override;
  void has_parted(std::uint64_t link) override;
  void listen_with(const key_pair& x) override;
  std::optional<public_key> listens_with() override;
  void announce(std::uint64_t link, const announcement& x) override;
  void drain(std::chrono::milliseconds most) override;
  void close() override;

private:
  void work();
  bool dials() const noexcept;

  /// It neither listens nor dials, and is about to; or somebody waits at its
  /// door.
  bool is_unsettled();
  void see_to_connections();

  /// A socket that is new, before it is bound.
  void open_door();
  void bind();
  void change_door();
  void ask_for_keys_anew();

  /// True: its key is allowed no longer, and it was told so.
  bool turns_out(place& to);
  std::optional<key_pair> wanted_pair();
  void has_pair(const key_pair& x);

  void connect();
  void hang_up(instant until);
  void dial_anew_after_silence();

  /// Somebody waits for room, or some is kept; those who have it may be gone,
  /// which is asked once a second. Of who has the lock.
  void look_after_room();

  /// From now on who has something to send rings. False: there is something.
  bool falls_asleep(std::size_t blocked);
  void wait(std::chrono::milliseconds most);

  /// Of who dialled: what has become of its connection. Of a server: who came
  /// without a key, and who asks whether its key is good.
  void follow_connections();
  void follow(connection_event seen);
  void say_connection(bool there);

  /// How many keys the server may have that was dialled.
  int choose_key(connection_event what);

  /// The server that was dialled, for the first time over this connection.
  void has_spoken();

  /// How many links have to wait for ZeroMQ.
  std::size_t send_what_is_due();
  std::set<std::uint64_t> taken_due();
  bool send_some(place& to);
  std::size_t count_sent(const place& to, const piece& x); ///< Its bytes.
  std::optional<piece> take_next(place& to);
  bool leaves(const piece& x);
  std::size_t joined_bytes_max(const place& to) const;

  /// False: there was nothing.
  bool hear_some();
  std::size_t hear_one(const parts& message); ///< How many bytes it had.
  void tell_what_was_heard();
  result<std::vector<frame_arrived>> hear(const parts& message, instant now,
                                          crossing& what);
  result<std::vector<frame_arrived>>
  hear(const piece& read, const parts& message, instant now, crossing& what);

  /// For a moment nothing is read: who says too much is to say it later.
  bool rests(std::size_t blocked);

  /// Whether who sent it may say so much.
  bool is_within_budget(const piece& x, const parts& message, instant now);

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
  meters spoken_{options_.frames_per_second}; ///< By key, or by connection.
  int doors_ = 0;                             ///< That were opened.
  std::optional<instant> dial_at_; ///< Nothing is dialled until then.
  shares shares_{limits::frames_beside_others};
  instant rests_until_{};
  socket_counts counts_;
  crossings sent_; ///< Of its thread alone, as the next one.
  crossings heard_;
  std::atomic<bool> stopped_{false};
  bool there_ = false;   ///< Of who dialled: as it was said.
  bool is_mute_ = false; ///< Something must not leave.

  std::mutex mutex_; ///< Of what follows; places come and go on the thread.
  places places_;
  std::set<std::uint64_t> due_;       ///< There may be something to send.
  bool asleep_ = false;               ///< The thread polls, or is about to.
  bool is_bound_ = false;             ///< Of a server.
  bool keys_changed_ = false;         ///< Perhaps.
  std::optional<key_pair> next_pair_; ///< It is to have.
  std::optional<key_choice> choice_;  ///< Of who dials with keys.
  std::uint64_t messages_ = 0;
  std::uint32_t connection_ = 0;
  silence silence_;
  instant probe_at_{};
  bool is_short_ = false;         ///< Of room, as it was seen last.
  bool opened_ = false;           ///< Its link, just now. Of the thread alone.
  std::optional<bool> met_again_; ///< Another one? Likewise.
  std::optional<announcement> announced_; ///< Likewise.
  std::thread thread_;
};

} // namespace troupe::transport
