#include "actors/client/link.hpp"

#include <mutex>
#include <utility>

#include <caf/send.hpp>

#include "core/limits.hpp"

namespace troupe::actors {

namespace {

using transport::frame;

class server_end final : public transport::endpoint {
public:
  explicit server_end(std::shared_ptr<in_process_hub> hub)
    : hub_(std::move(hub)) {
    // nop
  }

  std::size_t send(peer_id to, messages::any_message x) override {
    const auto size = transport::encoded_size(x);
    hub_->to_client(to, std::move(x));
    return size;
  }

private:
  std::shared_ptr<in_process_hub> hub_;
};

class client_end final : public transport::endpoint {
public:
  client_end(std::shared_ptr<in_process_hub> hub, peer_id me)
    : hub_(std::move(hub)),
      me_(me) {
    // nop
  }

  std::size_t send(peer_id, messages::any_message x) override {
    const auto size = transport::encoded_size(x);
    hub_->to_gateway(me_, std::move(x));
    return size;
  }

private:
  std::shared_ptr<in_process_hub> hub_;
  peer_id me_;
};

} // namespace

// Who is greeted before answers somebody who is gone. At first clients come by
// themselves, or have their sessions.
void in_process_hub::bind(gateway_actor x) {
  std::vector<peer_id> greeted;
  {
    const std::unique_lock guard{mutex_};
    if (std::exchange(gateway_, std::move(x)))
      for (const auto& [peer, client] : clients_)
        greeted.push_back(peer);
  }
  for (const auto peer : greeted)
    to_client(peer, hello_wanted());
}

void in_process_hub::connect(client_id who, client_actor x) {
  const std::unique_lock guard{mutex_};
  clients_[{who.value}] = std::move(x);
}

void in_process_hub::close() {
  const std::unique_lock guard{mutex_};
  gateway_ = nullptr;
  clients_.clear();
  held_.clear();
}

std::shared_ptr<transport::endpoint> in_process_hub::server_side() {
  return std::make_shared<server_end>(shared_from_this());
}

std::shared_ptr<transport::endpoint>
in_process_hub::client_side(client_id who) {
  return std::make_shared<client_end>(shared_from_this(), peer_id{who.value});
}

void in_process_hub::to_gateway(peer_id from, messages::any_message x) const {
  const std::shared_lock guard{mutex_};
  if (gateway_)
    caf::anon_send(gateway_,
                   transport::frame_arrived{from, frame{std::move(x)}});
}

void in_process_hub::hold() {
  const std::unique_lock guard{mutex_};
  holding_ = true;
}

bool in_process_hub::release() {
  const std::unique_lock guard{mutex_};
  const auto held = std::exchange(held_, {});
  for (const auto& [to, messages] : held)
    for (const auto& x : messages)
      deliver(to, x);
  return !held.empty();
}

void in_process_hub::to_client(peer_id to, messages::any_message x) {
  {
    const std::shared_lock guard{mutex_};
    if (!holding_)
      return deliver(to, std::move(x));
  }
  const std::unique_lock guard{mutex_};
  auto& held = held_[to];
  if (held.size() == limits::frames_per_client_max)
    for (auto& y : std::exchange(held, {}))
      deliver(to, std::move(y));
  held.push_back(std::move(x));
}

void in_process_hub::deliver(peer_id to, messages::any_message x) const {
  if (const auto found = clients_.find(to); found != clients_.end())
    caf::anon_send(found->second,
                   transport::frame_arrived{to, frame{std::move(x)}});
}

} // namespace troupe::actors
