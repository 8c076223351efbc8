#pragma once

// How the gateway speaks: to clients, into the record and to the director.

#include "actors/gateway/gateway.hpp"
#include "actors/gateway/words.hpp"
#include "actors/record/events.hpp"

namespace troupe::actors {

using policies::verdict;
using gate_pointer = gateway_actor::stateful_pointer<gateway_state>;

inline instant now(gate_pointer self) {
  return self->clock().now() - self->state.args.started;
}

/// Returns the bytes that it adds to what is on its way.
inline std::size_t send(gate_pointer self, peer_id to,
                        messages::any_message x) {
  const auto bytes = self->state.args.network->send(to, std::move(x));
  self->state.args.counted->bytes_down.fetch_add(bytes,
                                                 std::memory_order_relaxed);
  return bytes;
}

inline void say(gate_pointer self, peer_id to, messages::any_message x) {
  send(self, to, std::move(x));
}

inline void say(gate_pointer self, client_id to, messages::any_message x) {
  if (const auto peer = self->state.peers.peer_of(to))
    say(self, *peer, std::move(x));
}

// What clients hear and say is noted here, where it has an order.
inline void note(gate_pointer self, const auto& x, auto... how) {
  if (self->state.args.events)
    self->send(self->state.args.others->archivist,
               messages::line_noted{messages::line_noted::file::events,
                                    event_of(x, now(self), how...)});
}

/// Says what lets a client forget an offer: where it lives on when this process
/// is killed, not before the record has it.
inline void note_and_say(gate_pointer self, const auto& event, client_id to,
                         std::vector<messages::any_message> all) {
  const auto say_all = [self, to, all = std::move(all)] {
    for (const auto& x : all)
      say(self, to, x);
  };
  if (!self->state.args.outlived || !self->state.args.events) {
    note(self, event);
    return say_all();
  }
  const messages::line_noted line{messages::line_noted::file::events,
                                  event_of(event, now(self))};
  self->request(self->state.args.others->archivist, caf::infinite, line)
    .then(say_all, [](const caf::error&) {});
}

inline void count_refusal(gate_pointer self, transport::refusal why) {
  if (const auto& to = self->state.args.refused)
    to->add(why, steady_now()); // As sockets do.
}

/// Ends a visit that was refused as a whole: what comes of it is answered.
inline void end_visit(gate_pointer self, visit_id visit, verdict why) {
  self->state.granted->ended(visit);
  ++self->state.refusals[static_cast<std::size_t>(why)];
  const messages::visit_failed failed{visit, why};
  note_and_say(self, failed, visit.client, {messages::visit_ended{visit, why}});
  self->send(self->state.args.others->director, failed);
}

} // namespace troupe::actors
