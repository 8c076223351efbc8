#include "actors/client/socket_hubs.hpp"

#include <mutex>
#include <utility>

#include <caf/send.hpp>

#include "core/limits.hpp"

namespace troupe::actors {

namespace {

bool is_of_process(peer_id x) {
  return transport::channel_of(x) == transport::channel_id{};
}

/// The newest have the largest numbers.
template <class Links>
void keep_newest(Links& of_links) {
  if (of_links.size() > limits::links_max)
    of_links.erase(of_links.begin());
}

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
  if (is_of_process(x.peer)) {
    if (reception_) {
      caf::anon_send(reception_, std::move(x));
    } else if (socket_ && x.what.size() <= limits::early_bytes_max) {
      early_.insert_or_assign(link_of(x.peer), std::move(x));
      keep_newest(early_);
    }
    return;
  }
  heard_.insert(link_of(x.peer));
  keep_newest(heard_);
  if (gateway_)
    caf::anon_send(gateway_, std::move(x));
}

void server_socket_hub::bind(reception_actor x) {
  const std::unique_lock guard{mutex_};
  reception_ = std::move(x);
  for (auto& [link, said] : std::exchange(early_, {}))
    caf::anon_send(reception_, std::move(said));
}

void server_socket_hub::bind(gateway_actor x) {
  const std::unique_lock guard{mutex_};
  if (!socket_) // The run ends while its node is made anew.
    return;
  gateway_ = std::move(x);
  for (const auto link : heard_)
    socket_->send(process_of(link), hello_wanted());
}

std::shared_ptr<transport::endpoint> server_socket_hub::server_side() {
  const std::shared_lock guard{mutex_};
  return socket_;
}

void server_socket_hub::close() {
  const std::unique_lock guard{mutex_};
  gateway_ = nullptr;
  caf::anon_send_exit(reception_, caf::exit_reason::user_shutdown);
  reception_ = nullptr;
  early_.clear();
  socket_ = nullptr;
}

void client_socket_hub::use(std::shared_ptr<transport::endpoint> x) {
  const std::unique_lock guard{mutex_};
  socket_ = std::move(x);
}

void client_socket_hub::arrived(transport::frame_arrived x) {
  const std::shared_lock guard{mutex_};
  if (is_of_process(x.peer) && ear_) {
    if (const auto message = x.what.open())
      ear_(**message);
  } else if (const auto found = clients_.find(x.peer);
             found != clients_.end()) {
    caf::anon_send(found->second, std::move(x));
  }
}

void client_socket_hub::listen(
  std::function<void(const messages::any_message&)> x) {
  const std::unique_lock guard{mutex_};
  ear_ = std::move(x);
}

void client_socket_hub::say_hello() {
  const std::shared_lock guard{mutex_};
  for (const auto& [peer, client] : clients_)
    caf::anon_send(
      client, transport::frame_arrived{peer, transport::frame{hello_wanted()}});
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
  ear_ = nullptr;
  socket_ = nullptr;
}

} // namespace troupe::actors
