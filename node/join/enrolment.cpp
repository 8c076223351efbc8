#include "node/join/enrolment.hpp"

#include <chrono>
#include <memory>
#include <utility>

#include "actors/messages/wire.hpp"
#include "actors/transport/zmq/socket_endpoint.hpp"
#include "node/join/inquiry.hpp"
#include "node/run/serving.hpp"

namespace troupe::node {

enrolment_outcome enrol(const enrolment& x) {
  using how = enrolment_outcome::how;
  inquiry asked;
  std::atomic<transport::turned_away> why{};
  std::atomic<bool> away{false};
  transport::socket_endpoint::options options;
  options.address = x.address;
  options.bytes_max = [](std::uint16_t) { return std::uint64_t{1} << 16; };
  options.instance = drawn_number();
  options.keys = x.keys;
  if (x.leaving)
    options.leaving = [&](const transport::piece& y) {
      const bool may = x.leaving(y);
      away = away || !may;
      return may;
    };
  options.away = [&](transport::turned_away y) {
    why = y;
    away = true;
  };
  options.arrived = [&](const transport::frame_arrived& y) {
    if (const auto message = y.what.open())
      asked.heard(**message);
  };
  const auto socket = transport::socket_endpoint::dial(std::move(options));
  if (!socket)
    return {how::unreachable, socket.error().context};
  const auto found = asked.ask<messages::enrolment_answered>(
    **socket, messages::enrolment_asked{.nonce = 0, .own = x.own},
    {.seconds = x.wait,
     .stop = x.stop,
     .away = &away,
     .meanwhile = x.meanwhile});
  (*socket)->send({}, messages::process_parted{messages::parting::for_now, {}});
  (*socket)->drain(std::chrono::seconds{1});
  (*socket)->close();
  if (found)
    return {found->why.empty() ? how::done : how::refused, found->why};
  if (!away)
    return {how::unreachable};
  return {why == transport::turned_away::our_key ? how::not_let_in
                                                 : how::not_theirs};
}

} // namespace troupe::node
