#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <zmq.hpp>

#include "actors/transport/link_end.hpp"
#include "actors/transport/zmq/socket_endpoint.hpp"

namespace troupe::transport {

/// Pieces are as large as the other end wants them, up to this.
inline constexpr std::size_t piece_bytes_max = std::size_t{4} << 20;

void set_up_server(zmq::socket_t& x, const std::string& address);

void set_up_dialler(zmq::socket_t& x, const std::string& address);

/// Of the link with this number.
link_end::options link_options(const socket_endpoint::options& how,
                               std::shared_ptr<held_bytes> room,
                               std::uint64_t number);

} // namespace troupe::transport
