#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "actors/transport/inbox.hpp"
#include "actors/transport/outbox.hpp"

namespace troupe::test {

/// What one end of a link took for the other, and what must come of it: a large
/// message comes whole, once and in order over any number of connections, to
/// the one memory that it was said to, but for an answer to a visit that was
/// over before it began to go out; a small one goes out once, and before
/// anything large.
class link_laws {
public:
  explicit link_laws(std::size_t small_bytes_max)
    : small_bytes_max_(small_bytes_max) {
    // nop
  }

  /// @returns how many answers that wait are of no use from now on
  std::size_t took(transport::channel_id to, const messages::any_message& x,
                   transport::outbox::taken how);

  /// It goes out next.
  void left(const transport::piece& x);

  /// There is a connection, and nothing goes out.
  void has_nothing_to_say();

  /// Small ones that wait are given up.
  void abandoned();

  void heard(const transport::arrival& x);

  /// The other end is another one: nothing that was said is for it.
  void met_another();

  /// There is a connection, and nothing is under way.
  void check_end() const;

private:
  void left(transport::channel_id to, std::span<const std::byte> frame);
  void began(transport::transfer_id x);
  std::size_t ended_by(const messages::any_message& x);

  struct large {
    transport::channel_id channel;
    transport::buffer bytes;
    visit_id answers = {}; ///< That it is an answer to, if it is one.
    bool is_over = false;  ///< Before it began: it is dropped.
  };

  std::size_t small_bytes_max_;
  std::multiset<std::pair<transport::channel_id, transport::buffer>> waiting_;
  std::size_t replaced_ = 0; ///< Of those: a newer one went in their place.
  std::vector<large> large_; ///< All of them.
  std::size_t begun_ = 0;    ///< Of those, like the next one.
  std::size_t arrived_ = 0;
  transport::transfer_id last_; ///< That began.
};

} // namespace troupe::test
