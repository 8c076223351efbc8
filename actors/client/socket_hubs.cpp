#include "actors/client/socket_hubs.hpp"

#include <mutex>
#include <utility>

#include <caf/send.hpp>

#include "core/limits.hpp"

namespace troupe::actors {

namespace {

/// One client's way through the socket of all.
class channel final : public transport::endpoint {
public:
  channel(std::shared_ptr<transport::endpoint> socket, peer_id me)
    : socket_(std::move(socket)),
      me_(me) {
    // nop
  }

  std::size_t send(peer_id, messages::any_message x) override {
    return socket_->send(me_, std::move(x));
  }

private:
  std::shared_ptr<transport::endpoint> socket_;
  peer_id me_;
};

} // namespace

void server_socket_hub::use(std::shared_ptr<transport::endpoint> x) {
  const std::unique_lock guard{mutex_};
  socket_ = std::move(x);
}

void server_socket_hub::arrived(transport::frame_arrived x) {
  const std::unique_lock guard{mutex_};
  if (heard_.size() < limits::clients_max)
    heard_.insert(x.peer);
  if (gateway_)
    caf::anon_send(gateway_, std::move(x));
}

void server_socket_hub::bind(gateway_actor x) {
  const std::unique_lock guard{mutex_};
  gateway_ = std::move(x);
}

std::shared_ptr<transport::endpoint> server_socket_hub::server_side() {
  const std::shared_lock guard{mutex_};
  return socket_;
}

std::vector<peer_id> server_socket_hub::peers() const {
  const std::shared_lock guard{mutex_};
  return {heard_.begin(), heard_.end()};
}

void server_socket_hub::close() {
  const std::unique_lock guard{mutex_};
  gateway_ = nullptr;
}

void client_socket_hub::use(std::shared_ptr<transport::endpoint> x) {
  const std::unique_lock guard{mutex_};
  socket_ = std::move(x);
}

void client_socket_hub::arrived(transport::frame_arrived x) {
  const std::shared_lock guard{mutex_};
  if (const auto found = clients_.find(x.peer); found != clients_.end())
    caf::anon_send(found->second, std::move(x));
}

void client_socket_hub::connect(client_id who, client_actor x) {
  const std::unique_lock guard{mutex_};
  clients_[{who.value}] = std::move(x);
}

std::shared_ptr<transport::endpoint>
client_socket_hub::client_side(client_id who) {
  const std::shared_lock guard{mutex_};
  return std::make_shared<channel>(socket_, peer_id{who.value});
}

void client_socket_hub::close() {
  const std::unique_lock guard{mutex_};
  clients_.clear();
}

} // namespace troupe::actors
