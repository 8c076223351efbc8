#include "node/run/socket_view.hpp"

#include "core/clock.hpp"
#include "core/limits.hpp"

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

socket_status::carried carried_by(const transport::piece_counts& x) {
  const auto found = x.carried();
  return {.transfers = found.transfers, .values = found.values};
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
  out.unhandled_bytes_max = seen.unhandled_bytes_max;
  out.unhandled_frames = seen.unhandled_frames;
  out.unhandled_frames_max = seen.unhandled_frames_max;
  out.credit_waits = counts.credit_waits;
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
  const auto& counts = x.counts();
  out.connected_max = limits::links_max;
  out.up = by_kind(counts.in);
  out.down = by_kind(counts.out);
  out.carried_up = carried_by(counts.in);
  out.carried_down = carried_by(counts.out);
  const auto all = refused.all();
  const auto of = [&all](transport::refusal why) {
    return all[static_cast<std::size_t>(why)];
  };
  // Who waits at the door while its key cannot be read is made or breaks off.
  out.listened = {.made = counts.made,
                  .refused = of(transport::refusal::unknown_key)
                             + of(transport::refusal::expired_key),
                  .unlike = of(transport::refusal::no_key),
                  .broken = counts.broken,
                  .lost = counts.lost};
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
  const auto& counts = x.counts();
  out.connected_max = 1;
  out.up = by_kind(counts.out);
  out.down = by_kind(counts.in);
  out.carried_up = carried_by(counts.out);
  out.carried_down = carried_by(counts.in);
  out.dialled = {.made = counts.made,
                 .refused = counts.refused,
                 .unlike = counts.unlike,
                 .broken = counts.broken,
                 .lost = counts.lost};
  return out;
}

} // namespace troupe::node
