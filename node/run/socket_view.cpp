#include "node/run/socket_view.hpp"

#include "core/clock.hpp"

namespace troupe::node {

using actors::socket_status;

namespace {

std::map<std::string, socket_status::crossed>
by_kind(const transport::piece_counts& x) {
  std::map<std::string, socket_status::crossed> out;
  for (std::size_t i = 0; i < transport::crossing_kinds; ++i)
    out[transport::crossing_names[i]] = {x.pieces[i], x.bytes[i]};
  return out;
}

socket_status status_of(transport::socket_endpoint& x) {
  const auto& counts = x.counts();
  const auto seen = x.look();
  socket_status out;
  out.connected = seen.connected;
  out.met = counts.connections;
  out.behind = seen.behind;
  out.transfers_in = seen.arriving;
  out.transfers_waiting = seen.waiting;
  out.transfers_out = seen.leaving;
  out.unsent_bytes = seen.unsent_bytes;
  out.unhandled_bytes = x.unhandled_bytes();
  out.malformed = counts.pieces_malformed;
  out.dropped = counts.messages_without_room;
  out.failures = counts.failures;
  out.dialled_anew = counts.dialled_anew;
  return out;
}

} // namespace

socket_status status_of_server(transport::socket_endpoint& x,
                               const transport::refusals& refused) {
  auto out = status_of(x);
  out.up = by_kind(x.counts().in);
  out.down = by_kind(x.counts().out);
  const auto all = refused.all();
  for (std::size_t i = 0; i < all.size(); ++i)
    out.refused[transport::refusal_names[i]] = all[i];
  for (const auto why :
       refused.since(steady_now() - transport::refusals::silence))
    out.refused_lately.emplace_back(
      transport::refusal_names[static_cast<std::size_t>(why)]);
  return out;
}

socket_status status_of_dialler(transport::socket_endpoint& x) {
  auto out = status_of(x);
  out.up = by_kind(x.counts().out);
  out.down = by_kind(x.counts().in);
  return out;
}

} // namespace troupe::node
