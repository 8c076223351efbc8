// Crashes of the node, of one of its actors, of a client; other keys.

#include <limits>

#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "tests/support/sim/sim_parts.hpp"

namespace troupe::test {

void sim_node::crash_something() {
  auto& p = *p_;
  const auto& active = p.luck.active;
  // Last visits are few: among them it comes more often.
  const bool at_end = p.store->has_ended() && !finished();
  if (p.luck.happens(p.crashes, (at_end ? 10 : 1) * active.node_crash,
                     "node crashed"))
    crash_server();
  if (p.luck.happens(p.crashes, active.actor_crash, "actor crashed"))
    crash_actor();
  if (p.luck.happens(p.crashes, active.client_crash, "client crashed"))
    crash_client();
  // Where there are none nothing is drawn for them.
  if (p.network->links()
      && p.luck.happens(p.crashes, active.process_crash, "process crashed"))
    crash_process();
  if (p.luck.happens(p.owners, active.client_leave, "client moved"))
    leave_or_come();
  if (p.luck.happens(p.keys, active.key_change, "key of tickets changed"))
    change_key();
}

// What was signed before is good no more, or for ever: no clock says when.
void sim_node::change_key() {
  auto& p = *p_;
  auto keys = p.args.tickets->keys_now();
  if (!keys)
    return;
  const bool is_over = p.keys.chance(0.5);
  keys->before.insert(
    keys->before.begin(),
    {keys->now, is_over ? 0 : std::numeric_limits<std::int64_t>::max()});
  if (keys->before.size() > actors::seals::former_max)
    keys->before.pop_back();
  for (auto& byte : keys->now)
    byte = static_cast<std::uint8_t>(p.keys.below(256));
  p.args.tickets->use(*keys);
}

void sim_node::count_ticket(parts& p, const messages::any_message& x) {
  const auto is_over = [&p](const messages::ticket& pass) {
    return p.args.tickets->judge(pass, 0) == actors::worth::over;
  };
  auto& happened = p.luck.happened;
  if (const auto* fetch = std::get_if<messages::fetch_requested>(&x))
    happened["a fetch by a key that is over"] += is_over(fetch->pass);
  else if (const auto* offer = std::get_if<messages::offer_made>(&x))
    happened["an offer by a key that is over"] += is_over(offer->pass);
  else if (const auto* question = std::get_if<messages::offer_awaited>(&x))
    happened["a question by a key that is over"] += is_over(question->pass);
}

void sim_node::live(client_id who, policies::life_event what) {
  caf::anon_send(p_->clients.at(who), messages::life_changed{what});
}

void sim_node::leave_or_come() {
  auto& p = *p_;
  const client_id who{1 + p.owners.below(p.what.clients)};
  if (p.dead.contains(who))
    return;
  const auto file = p.vault->load(who);
  if (p.gone.erase(who) > 0) {
    ++p.luck.happened["client came back"];
    return live(who, policies::life_event::come);
  }
  p.gone.insert(who);
  const bool drains = p.owners.chance(0.5);
  ++p.luck.happened[std::string{"client "} + (drains ? "drains " : "leaves ")
                    + (file && file->open ? "on a visit" : "at rest")];
  live(who, drains ? policies::life_event::drain : policies::life_event::go);
}

void sim_node::crash_server() {
  auto& p = *p_;
  for (const auto& line : p.blocks->lines)
    ++p.luck.happened["crash while " + p.progress.phase(line.id)];
  p.luck.happened["crash before the first last visit is over"] +=
    p.store->has_ended() && p.store->had_last().empty() && !finished();
  p.luck.happened["crash between last visits"] +=
    !p.store->had_last().empty() && !finished();
  world::kill(p.supervisor);
  for (const auto& x : p.server)
    world::kill(x);
  p.server.clear();
  if (auto* links = p.network->links())
    links->server_died();
  p.progress.forget();
  if (p.what.clock_anew) {
    ++p.luck.happened["clock began anew"];
    p.args.started = p.w.clock_now();
  }
  start_server();
}

void sim_node::crash_actor() {
  auto& p = *p_;
  if (!p.server.empty())
    world::kill(p.server[p.crashes.below(p.server.size())]);
}

void sim_node::crash_client() {
  const client_id who{1 + p_->crashes.below(p_->what.clients)};
  if (!kill_client(who))
    start_client(who);
}

bool sim_node::kill_client(client_id who) {
  auto& p = *p_;
  p.luck.happened["client crash before its file is kept"] +=
    p.vault->waiting.contains(who);
  p.vault->forget(who);
  const auto file = p.vault->load(who);
  const char* phase = !file                  ? "before its hello"
                      : file->open           ? "on a visit"
                      : file->outbox.empty() ? "at rest"
                                             : "waiting for a verdict";
  ++p.luck.happened[std::string{"client crash "} + phase];
  p.gone.erase(who);
  const bool was_dead = p.dead.erase(who) > 0;
  if (!was_dead)
    world::kill(p.clients.at(who));
  // Where nobody waits for ever, it may be a while until it is started again.
  if (!was_dead && p.what.silence_max > instant{} && p.owners.chance(0.5)) {
    ++p.luck.happened[std::string{"client dies "} + phase];
    p.dead.insert(who);
    return true;
  }
  return false;
}

// All clients of one, at once.
void sim_node::crash_process() {
  auto& p = *p_;
  auto* links = p.network->links();
  const client_id one{1 + p.crashes.below(p.what.clients)};
  std::vector<client_id> back;
  std::uint64_t died = 0;
  for (std::uint64_t i = 1; i <= p.what.clients; ++i) {
    const client_id who{i};
    if (!links->are_together(one, who))
      continue;
    died += !p.dead.contains(who);
    if (!kill_client(who))
      back.push_back(who);
  }
  p.luck.happened["many clients died at once"] += died > 1;
  links->process_died(one);
  for (const auto who : back)
    start_client(who);
}

// A mailbox is a queue: whoever fills it holds a credit.
void sim_node::check_mail() {
  auto& p = *p_;
  const auto most =
    p.what.clients * limits::frames_per_client_max + 16 * p.server.size();
  for (const auto& x : p.server) {
    EXPECT_LE(world::mail_of(x), most)
      << "a mailbox grows without bound: "
      << dynamic_cast<caf::local_actor&>(
           *caf::actor_cast<caf::abstract_actor*>(x))
           .name();
  }
}

} // namespace troupe::test
