#include "node/run/clients.hpp"

#include <functional>
#include <utility>

#include <caf/send.hpp>

#include "actors/wiring_of_clients.hpp"
#include "node/run/rules.hpp"
#include "node/task/travel.hpp"

namespace troupe::node {

using namespace actors;

clients::clients(const federation& f, caf::actor_system& system)
  : f_(f),
    system_(system) {
  // nop
}

result<void> clients::start(neighbours in) {
  heard_ = std::move(in.heard);
  std::function<instant(const models::visit_input&)> duration;
  if (is_virtual(f_.x)) {
    auto counter = f_.work.make_trainer();
    if (!counter)
      return tl::make_unexpected(counter.error());
    duration = durations_of(f_.x, f_.work, std::move(*counter));
  }
  const auto there = policies::presence{f_.work.life}.at_first();
  for (std::uint64_t k = 1; k <= f_.x.clients.invitable(); ++k) {
    auto client = start_client(
      system_,
      {.options = talk_of(f_.x, f_.work, {k}),
       .network = in.hub->client_side({k}),
       .files = in.files,
       .worker = in.worker,
       .started = in.started,
       .life = {.duration = duration,
                .drops_out = drop_outs_of(f_.x),
                .absent = !there.contains({k})},
       .resumed = f_.resumed},
      [&](const client_actor& made) { in.hub->connect({k}, made); });
    all_.emplace(client_id{k}, std::move(client));
  }
  auto world = start_world(system_, {.options = f_.work.life,
                                     .clients = all_,
                                     .lead = f_.work.blocks->lead(),
                                     .started = in.started,
                                     .resumed = f_.resumed});
  const std::lock_guard guard{heard_->mutex};
  heard_->who = std::move(world);
  return {};
}

void clients::ask_for_state(const std::shared_ptr<snapshot_draft>& draft) {
  const messages::state_asked question{draft};
  for (const auto& [id, client] : all_)
    caf::anon_send(client, question);
  caf::anon_send(heard_->who, question);
}

void clients::answer(const std::shared_ptr<status_draft>& draft) {
  if (!heard_)
    return;
  const std::lock_guard guard{heard_->mutex};
  if (heard_->who)
    caf::anon_send(heard_->who, messages::status_asked{draft});
}

void clients::close() {
  for (const auto& [id, client] : all_)
    caf::anon_send_exit(client, caf::exit_reason::user_shutdown);
  all_.clear();
  if (!heard_)
    return; // They did not begin.
  const std::lock_guard guard{heard_->mutex};
  if (heard_->who)
    caf::anon_send_exit(heard_->who, caf::exit_reason::user_shutdown);
  heard_->who = nullptr;
}

} // namespace troupe::node
