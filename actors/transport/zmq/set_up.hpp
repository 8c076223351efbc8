#pragma once

#include <string>

#include <zmq.hpp>

namespace troupe::transport {

/// Pieces are as large as the other end wants them, up to this.
inline constexpr std::size_t piece_bytes_max = std::size_t{4} << 20;

void set_up_server(zmq::socket_t& x, const std::string& address);

void set_up_dialler(zmq::socket_t& x, const std::string& address);

} // namespace troupe::transport
