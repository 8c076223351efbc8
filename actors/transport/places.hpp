#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/transport/link_end.hpp"
#include "core/clock.hpp"

namespace troupe::transport {

/// A link and where its connection is.
struct place {
  std::uint64_t number = 0; ///< From 1; of who dialled: 0.
  link_end link;
  std::string route = {};           ///< Of a ROUTER; empty: nowhere.
  std::string user = {};            ///< Its key, in digits; empty without.
  std::uint64_t instance = 0;       ///< Of the process; of who dialled: 0.
  std::optional<piece> unsent = {}; ///< What ZeroMQ had no room for.
  std::uint64_t heard = 0;          ///< When, in messages of all.
  instant lost_at{};                ///< Its connection, the last time.
  instant spoke_at{};
  instant told_at{};       ///< Anything by us.
  instant moved_at{};      ///< What it has room for here went on, or got that.
  std::uint64_t moved = 0; ///< Bytes since then.
  bool has_parted = false; ///< It said so, over the connection that it has.
  /// Since when something has been waiting for it without a pause.
  std::optional<instant> busy_since = {};
  bool waits_for_credit = false; ///< When it was looked for more to send.

  /// What the other end sent.
  result<arrivals> hear(const piece& x, instant now);

  /// Takes what goes out next.
  std::optional<piece> next(instant now);
};

/// Who is there, and what is on its way between them and here.
struct places_seen {
  std::uint64_t connected = 0;
  std::uint64_t behind = 0;   ///< Of these, who has long had to be sent more.
  std::uint64_t arriving = 0; ///< Large messages, like the next two.
  std::uint64_t waiting = 0;  ///< They have no room here yet.
  std::uint64_t leaving = 0;  ///< Links that have one to be sent.
  std::uint64_t unsent_bytes = 0;
  std::uint64_t unhandled_bytes_max = 0;
  std::uint64_t unhandled_frames = 0;
  std::uint64_t unhandled_frames_max = 0;
};

/// All links of a process.
class places {
public:
  using link_options = std::function<link_end::options(
    std::uint64_t number, std::shared_ptr<held_bytes> room)>;

  /// @param room of all links; null: of none
  explicit places(link_options make, std::shared_ptr<held_bytes> room = {})
    : make_(std::move(make)),
      room_(std::move(room)) {
    // nop
  }

  place& add(std::uint64_t number, const std::string& user = {});

  /// Null if it is gone.
  place* find(std::uint64_t number);

  /// Whom a piece is from, on a server. A link is found by what `opened` names;
  /// what comes before it is nobody's, and a connection is of one link. Nobody
  /// finds the link of another key.
  place* of(const std::string& route, const std::string& user, const piece& x);

  /// It has no connection any more. What has come of something unfinished is
  /// kept for who is back, with its room, until others wait for that. Those
  /// that had lost theirs `gone_max` before are forgotten.
  void lost(place& x, instant now);

  /// Nor is anything kept for it.
  void dismissed(place& x, instant now);

  /// Those that have had no connection for `gone_max` are forgotten, with their
  /// room and what was still to be sent to them.
  void forget_gone(instant now);

  /// Some is kept for who is gone: `forget_gone` is to be called now and then.
  bool keeps_room() const noexcept {
    return !kept_.empty();
  }

  /// Takes what goes out next to it. Where it begins to wait for room, what
  /// would help it is kept no longer for who is gone.
  std::optional<piece> next(place& x, instant now);

  /// Those that wait for room.
  const std::set<std::uint64_t>& waiting() const noexcept {
    return waiting_;
  }

  /// Nobody has a connection any more; links go on over the next ones.
  void all_lost(instant now);

  /// Links that were open when their connection was lost, or when they were
  /// forgotten, since this was asked last.
  std::uint64_t take_lost() noexcept {
    return std::exchange(lost_, 0);
  }

  /// A link speaks over this connection.
  bool has(const std::string& route) const {
    return routes_.contains(route);
  }

  /// Nothing waits for anybody who is there.
  bool is_idle() const;

  /// Those that have a connection, or had it at `then` or later.
  std::vector<std::uint64_t> here(instant then) const;

  /// Those of which something came at `then` or later.
  std::vector<std::uint64_t> heard(instant then) const;

  /// @param then who has been sent something since before that is behind
  places_seen look(instant then) const;

  /// Whether others need the memory that it takes by not reading.
  bool is_greedy(const place& x) const;

  /// What has hardly gone on since `then` has no claim to room that others wait
  /// for, whatever else is said.
  void forget_silent_holders(instant then);

  std::map<std::uint64_t, place>& all() noexcept {
    return all_;
  }

private:
  place& with(const std::string& user, std::uint64_t instance);
  std::size_t count_of(const std::string& user) const;
  std::shared_ptr<held_bytes> room_of(const std::string& user);
  void part(place& x, instant now);
  bool helps(const place& x, const place& waits) const;
  void drop_kept_for(const place& waits);
  void forget_oldest();
  void forget_oldest_of(const std::string& user);
  void forget(std::uint64_t number);

  link_options make_;
  std::shared_ptr<held_bytes> room_;
  std::map<std::string, std::weak_ptr<held_bytes>> rooms_; ///< Of keys.
  std::size_t rooms_left_ = 1; ///< Of these, when they were looked through.
  std::map<std::uint64_t, place> all_;
  std::map<std::string, std::uint64_t> routes_;
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> instances_;
  std::set<std::uint64_t> waiting_; ///< For room.
  std::set<std::uint64_t> kept_;    ///< Gone, and their room is kept.
  std::uint64_t last_ = 0;
  std::uint64_t lost_ = 0;
  instant look_again_{}; ///< For those that are gone.
};

} // namespace troupe::transport
