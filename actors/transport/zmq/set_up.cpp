#include "actors/transport/zmq/set_up.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "actors/transport/piece.hpp"
#include "core/limits.hpp"

namespace troupe::transport {

namespace {

constexpr int pieces_queued_max = 64; ///< Within ZeroMQ, per connection.

void set_up(zmq::socket_t& x, const std::string& address) {
  x.set(zmq::sockopt::linger, 500); // For the last words of a run.
  x.set(zmq::sockopt::sndhwm, pieces_queued_max);
  x.set(zmq::sockopt::rcvhwm, pieces_queued_max);
  x.set(zmq::sockopt::maxmsgsize,
        static_cast<std::int64_t>(piece_bytes_max + piece_head_size));
  // With it a name that has addresses of both kinds is dialled at one of IPv6
  // alone (tried with 4.3.4), and a server at 127.0.0.1 is not found by
  // "localhost". So a name is of IPv4, and an address of IPv6 in brackets.
  x.set(zmq::sockopt::ipv6, address.find('[') != address.npos);
  x.set(zmq::sockopt::handshake_ivl, 5000);
  // The kernel's own patience with a way that is gone is a quarter of an hour.
  x.set(zmq::sockopt::tcp_maxrt, 3000);
  // And with one that says nothing, for ever. Whoever is there beats, so only
  // who is not is asked, and with that patience one question that is lost ends
  // a connection. ZeroMQ's own heartbeats would cost a server more than all
  // that its clients say.
  x.set(zmq::sockopt::tcp_keepalive, 1);
  x.set(zmq::sockopt::tcp_keepalive_idle, 100); // Beyond three beats.
  x.set(zmq::sockopt::tcp_keepalive_intvl, 1);
  x.set(zmq::sockopt::tcp_keepalive_cnt, 3);
}

/// Debian's header has no name for it, and its library knows it.
constexpr int zero_copy_recv = 10;

} // namespace

// ZMQ_MAX_SOCKETS (1,023) is left as it is: it counts sockets, which are a
// handful, and no connections. Those are bounded by open files.
zmq::context_t lean_context() {
  zmq::context_t out;
  zmq_ctx_set(out.handle(), zero_copy_recv, 0); // If it doesn't know it: well.
  return out;
}

void set_up_server(zmq::socket_t& x, const std::string& address) {
  set_up(x, address);
  x.set(zmq::sockopt::router_mandatory, true);
  x.set(zmq::sockopt::backlog, 4096); // All may come back at once.
}

void set_up_dialler(zmq::socket_t& x, const std::string& address) {
  set_up(x, address);
  x.set(zmq::sockopt::immediate, true);
  x.set(zmq::sockopt::reconnect_ivl, 100);
  x.set(zmq::sockopt::reconnect_ivl_max, 800);
  // A SYN is repeated after a second, and the answer to that has 0.3 s: where
  // it had 0.1, one way of 50 ms was too long, and who was away was not back
  // within two seconds. That, a pause and what is said first are less than two.
  x.set(zmq::sockopt::connect_timeout, 1300);
}

bool wait_for(std::initializer_list<void*> sockets, int bell,
              std::chrono::milliseconds most) {
  std::vector<zmq::pollitem_t> items{{nullptr, bell, ZMQ_POLLIN, 0}};
  for (auto* x : sockets)
    if (x != nullptr)
      items.push_back({x, 0, ZMQ_POLLIN, 0});
  zmq::poll(items, most);
  return items.front().revents != 0;
}

tl::unexpected<error> cannot(const char* what, const std::string& address,
                             const zmq::error_t& why) {
  return fail(errc::invalid_config,
              std::string{"cannot "} + what + " at '" + address
                + "': " + why.what()
                + (why.num() == EADDRINUSE
                     ? "; another port would do, or 0: any that is free"
                     : ""));
}

std::shared_ptr<landing_pool>
new_landing_pool(const socket_endpoint::options& how) {
  return std::make_shared<landing_pool>(how.landing_bytes_max);
}

link_end::options link_options(const socket_endpoint::options& how,
                               std::shared_ptr<held_bytes> room,
                               std::shared_ptr<landing_pool> landing,
                               std::uint64_t number) {
  link_end::options x;
  x.out.frame_bytes_max = how.frame_bytes_max;
  x.out.chunk_bytes = std::min(how.chunk_bytes, piece_bytes_max);
  x.in.bytes_max = how.bytes_max;
  x.in.stranger_bytes_max = how.stranger_bytes_max;
  x.in.room = std::move(room);
  x.in.landing = std::move(landing);
  // Who was forgotten, and comes back, meets another.
  x.instance = how.instance + number;
  return x;
}

} // namespace troupe::transport
