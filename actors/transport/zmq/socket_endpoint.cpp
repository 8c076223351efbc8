#include "actors/transport/zmq/socket_endpoint.hpp"

#include <utility>

#include "actors/transport/zmq/set_up.hpp"
#include "actors/transport/zmq/socket_thread.hpp"

namespace troupe::transport {

namespace {

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
