#include "actors/gateway/home_scores.hpp"

#include <map>
#include <set>

namespace troupe::actors {

messages::scores_under_way ask(const gateway_state& state,
                               const messages::scores_wanted& x) {
  messages::scores_under_way out{.question = x.question, .asked = {}};
  const auto& args = state.args;
  if (!args.processes.of)
    return out;
  const auto connected = args.processes.here();
  std::map<peer_id, std::set<client_id>> here;
  for (const auto& [peer, session] : state.peers.all())
    if (const auto process = args.processes.of(peer);
        connected.contains(process))
      here[process].insert(session.client);
  auto blocks = x.blocks;
  for (auto& y : blocks)
    if (const auto* block = args.blocks->find(y.block))
      y.values = models::sent_of(*block, y.values);
  for (const auto& [process, clients] : here) {
    out.asked.push_back({process, {clients.begin(), clients.end()}});
    args.counted->bytes_down += args.network->send(
      process, messages::scores_asked{.question = x.question,
                                      .clients = out.asked.back().clients,
                                      .blocks = blocks});
  }
  return out;
}

} // namespace troupe::actors
