#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

#include <zmq.hpp>

#include "actors/transport/landing_pool.hpp"
#include "actors/transport/link_end.hpp"
#include "actors/transport/naps.hpp"
#include "actors/transport/zmq/socket_endpoint.hpp"
#include "core/result.hpp"

namespace troupe::transport {

/// Pieces are as large as the other end wants them, up to this.
inline constexpr std::size_t piece_bytes_max = std::size_t{4} << 20;

inline constexpr int pieces_per_turn = 32;    ///< Of one link, before others.
/// What is large takes so long that what is small would wait.
inline constexpr std::size_t bytes_per_turn = std::size_t{1} << 20;
inline constexpr int pieces_beyond_share = 8; ///< Before a rest.
inline constexpr std::chrono::milliseconds unsettled_pause{20};
inline constexpr std::chrono::milliseconds probe_pause{1000};
inline constexpr std::chrono::seconds silent_holder_max{30};
inline constexpr int turns_before_a_change = 64; ///< Of a server's pair.

/// Of one socket and as many connections as there may be: who is idle has as
/// little memory as ZeroMQ can do with.
zmq::context_t lean_context();

void set_up_server(zmq::socket_t& x, const std::string& address);

void set_up_dialler(zmq::socket_t& x, const std::string& address);

/// Waits until one of the sockets, of which some may be null, or the bell has
/// something to read. True: the bell has.
bool wait_for(std::initializer_list<void*> sockets, int bell,
              std::chrono::milliseconds most);

/// Why one can neither listen nor dial.
tl::unexpected<error> cannot(const char* what, const std::string& address,
                             const zmq::error_t& why);

/// Where all links of a process land.
std::shared_ptr<landing_pool>
new_landing_pool(const socket_endpoint::options& how);

/// Of the link with this number.
link_end::options link_options(const socket_endpoint::options& how,
                               std::shared_ptr<held_bytes> room,
                               std::shared_ptr<landing_pool> landing,
                               std::uint64_t number);

} // namespace troupe::transport
