#include "tests/support/sim/sim_network.hpp"

namespace troupe::test {

class sim_network::end final : public transport::endpoint {
public:
  end(sim_network& net, client_id who, bool up)
    : net_(net),
      who_(who),
      up_(up) {
    // nop
  }

  std::size_t send(peer_id to, messages::any_message x) override {
    const auto size = transport::encoded_size(x);
    const client_id peer{transport::channel_of(to).value};
    if (!up_ && peer == client_id{}) { // To a process.
      if (net_.sees_.process_asked)
        net_.sees_.process_asked(to, x);
      net_.links_->down(to)(x);
    } else
      net_.carry(std::move(x), up_ ? who_ : peer, up_, to);
    return size;
  }

private:
  sim_network& net_;
  client_id who_;
  bool up_;
};

void sim_network::use_links(std::uint64_t seed, std::uint64_t processes) {
  links_ = std::make_unique<sim_links>(
    world_, luck_,
    sim_links::options{.seed = seed,
                       .processes = processes,
                       .server = server_side(),
                       .server_hears =
                         [this](client_id from, const auto& x) {
                           if (const auto whole = x.open())
                             sees_.server_heard(from, **whole);
                         },
                       .process_hears = sees_.process_heard});
}

void sim_network::bind(actors::gateway_actor x) {
  if (links_)
    links_->bind(x);
  gateway_ = std::move(x);
}

void sim_network::connect(client_id who, actors::client_actor x) {
  if (links_)
    links_->connect(who, x);
  clients_[who] = std::move(x);
}

void sim_network::close() {
  if (links_)
    links_->close();
  gateway_ = nullptr;
  clients_.clear();
  strangers_.clear();
}

void sim_network::inject(client_id from, transport::buffer bytes) {
  world_.later(
    std::chrono::milliseconds{1},
    [this, from, frame = transport::frame{std::move(bytes)}] {
      if (gateway_)
        caf::anon_send(gateway_, transport::frame_arrived{{from.value}, frame});
    });
}

std::shared_ptr<transport::endpoint> sim_network::server_side() {
  return std::make_shared<end>(*this, client_id{}, false);
}

std::shared_ptr<transport::endpoint> sim_network::client_side(client_id who) {
  if (links_)
    links_->begin(who);
  return std::make_shared<end>(*this, who, true);
}

bool sim_network::is_cut(client_id peer, bool up) {
  auto& until = cut_until_[{peer, up}];
  if (luck_.happens(luck_.network, luck_.active.partition, "link cut"))
    until = world_.now() + std::chrono::milliseconds{luck_.network.below(2000)};
  const bool cut = luck_.active.partition > 0 && world_.now() < until;
  luck_.happened["frame lost in a cut"] += cut;
  return cut;
}

void sim_network::carry(messages::any_message x, client_id peer, bool up,
                        peer_id to) {
  (up ? sees_.client_said : sees_.server_said)(peer, x);
  if (up)
    forge(x, peer);
  else if (const auto more = forged_beside(x, peer))
    pass_on(*more, peer, up, to);
  if (is_cut(peer, up))
    return;
  const auto& active = luck_.active;
  auto& net = luck_.network;
  if (luck_.happens(net, active.loss, "frame lost"))
    return;
  const int copies =
    luck_.happens(net, active.duplication, "frame doubled") ? 2 : 1;
  for (int i = 0; i < copies; ++i)
    pass_on(x, peer, up, to);
}

void sim_network::pass_on(const messages::any_message& x, client_id peer,
                          bool up, peer_id to) {
  links_ ? say(x, peer, up, to) : send(transport::encode(x), peer, up);
}

instant sim_network::drawn_delay() {
  const auto x = std::chrono::milliseconds{
    luck_.network.below(luck_.active.delay_ms_max + 1)};
  luck_.happened["frame delayed"] += x.count() > 0;
  return x;
}

void sim_network::say(const messages::any_message& x, client_id peer, bool up,
                      peer_id to) {
  world_.later(drawn_delay(),
               [x, way = up ? links_->up(peer) : links_->down(to)] { way(x); });
}

void sim_network::send(transport::buffer bytes, client_id peer, bool up) {
  const auto& active = luck_.active;
  auto& net = luck_.network;
  if (luck_.happens(net, active.corruption, "frame damaged"))
    bytes[net.below(bytes.size())] ^= std::byte{1} << net.below(8);
  if (luck_.happens(net, active.truncation, "frame truncated"))
    bytes.resize(net.below(bytes.size()));
  world_.later(drawn_delay(),
               [this, peer, up, frame = transport::frame{std::move(bytes)}] {
                 deliver(frame, peer, up);
               });
}

void sim_network::deliver(transport::frame x, client_id peer, bool up) {
  transport::frame_arrived arrived{{peer.value}, std::move(x)};
  if (up && gateway_) {
    if (const auto whole = arrived.what.open())
      sees_.server_heard(peer, **whole);
    caf::anon_send(gateway_, std::move(arrived));
  }
  if (const auto ears = strangers_.find(peer); !up && ears != strangers_.end())
    if (const auto whole = arrived.what.open())
      ears->second(**whole);
  if (const auto found = clients_.find(peer); !up && found != clients_.end())
    caf::anon_send(found->second, std::move(arrived));
}

} // namespace troupe::test
