#include <algorithm>

#include "actors/metrics/wait_texts.hpp"
#include "actors/metrics/why.hpp"

namespace troupe::actors {

namespace {

wait without_server(const process_status& x) {
  return {.code = "connection",
          .what = x.ever_connected
                    ? "the connection to " + x.address + " is lost"
                    : "nobody has answered at " + x.address + " yet",
          .ends = "a server answers there: it is dialled again every second",
          .since_ms = x.changed_ms};
}

/// What a process that has clients waits for.
wait of_clients(const process_status& x) {
  const auto clients = counted(x.clients, "client");
  if (!x.crew.under_way.empty())
    return {.code = "nothing",
            .what =
              "it is under way: " + counted(x.crew.under_way.size(), "visit")
              + " in training here",
            .ends = "the end of the run"};
  if (x.socket.transfers_out > 0 || x.socket.transfers_in > 0)
    return {.code = "transfer",
            .what = (x.socket.transfers_out > 0
                       ? "an offer is on its way to the server"
                       : std::string{"what a visit begins with is on its way"})
                    + (x.socket.behind > 0 ? ", which takes it slowly" : ""),
            .ends = "it has arrived"};
  return {.code = "invitation",
          .what = clients + " of the run wait" + (x.clients == 1 ? "s" : "")
                  + " here for an invitation",
          .ends =
            "the server invites one; where it serves, troupe why RUN says "
            "what the run waits for"};
}

wait find(const process_status& x) {
  using step = process_status::step;
  if (x.over)
    return {.code = "nothing",
            .what = "this process has ended: " + x.reason,
            .ends = "nothing: it has ended"};
  if (x.server_away && !x.connected)
    return {.code = "server",
            .what = "the server said that it will be back",
            .ends = "it is served again at " + x.address,
            .since_ms = x.changed_ms};
  if (!x.connected)
    return without_server(x);
  if (auto found = hanging(x.crew, x.now_ms))
    return *found;
  switch (x.at) {
    case step::looking:
      return {.code = "starting",
              .what = "it asks the server what the run is",
              .ends = "an answer"};
    case step::making:
      return {.code = "making",
              .what = "it makes the model and the data of the run",
              .ends = "that is done"};
    case step::beginning:
      return {.code = "starting",
              .what = "it asks for its clients and opens what they have kept",
              .ends = "that is done"};
    case step::taking_part:
      break;
  }
  return of_clients(x);
}

} // namespace

wait why(const process_status& x) {
  auto found = find(x);
  if (found.since_ms == 0)
    found.since_ms = std::max(x.progress_ms, x.began_ms);
  return found;
}

} // namespace troupe::actors
