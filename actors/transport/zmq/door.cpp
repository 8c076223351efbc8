#include "actors/transport/zmq/door.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "core/hex.hpp"
#include "core/limits.hpp"

namespace troupe::transport {

namespace {

constexpr const char* zap_address = "inproc://zeromq.zap.01";
constexpr const char* domain = "troupe";

/// For those that wait.
constexpr std::chrono::milliseconds look_again{200};

/// Debian's header has no name for it, and its library knows it.
constexpr int enforce_domain = 93;

void set(zmq::socket_t& x, int option, const void* value, std::size_t size) {
  if (zmq_setsockopt(x.handle(), option, value, size) != 0)
    throw zmq::error_t{};
}

std::vector<zmq::message_t> request_in(zmq::socket_t& from) {
  std::vector<zmq::message_t> out;
  bool more = true;
  while (more) {
    zmq::message_t part;
    if (!from.recv(part, zmq::recv_flags::dontwait))
      return {};
    more = part.more();
    out.push_back(std::move(part));
  }
  return out;
}

bool may_come_in(key_standing x) {
  return x == key_standing::allowed || x == key_standing::invited;
}

refusal reason_of(key_standing x) {
  return x == key_standing::expired ? refusal::expired_key
                                    : refusal::unknown_key;
}

} // namespace

void use_keys(zmq::socket_t& x, const key_pair& own, const public_key& server) {
  set(x, ZMQ_CURVE_SERVERKEY, server.data(), server.size());
  set(x, ZMQ_CURVE_PUBLICKEY, own.open.data(), own.open.size());
  set(x, ZMQ_CURVE_SECRETKEY, own.secret.data(), own.secret.size());
}

door::door(zmq::context_t& context, server_keys keys,
           std::shared_ptr<refusals> refused)
  : keys_(std::move(keys)),
    refused_(std::move(refused)),
    asked_(context, zmq::socket_type::router) {
  asked_.set(zmq::sockopt::linger, 0);
  asked_.bind(zap_address);
}

void door::guard(zmq::socket_t& x) const {
  const int on = 1;
  set(x, ZMQ_CURVE_SERVER, &on, sizeof on);
  set(x, ZMQ_CURVE_SECRETKEY, keys_.own.secret.data(), keys_.own.secret.size());
  set(x, ZMQ_ZAP_DOMAIN, domain, std::strlen(domain));
  set(x, enforce_domain, &on, sizeof on);
}

// Each is asked about by itself, so that nobody waits for who waits here.
void door::answer(instant now) {
  while (auto x = next_question(now)) {
    if (answers(*x, now))
      continue;
    refused_->add(refusal::unreadable_key, now);
    if (waiting_.size() < limits::keys_remembered)
      waiting_.push_back(std::move(*x));
  }
  if (waiting_.empty() || now < look_at_)
    return;
  look_at_ = now + look_again;
  std::erase_if(waiting_, [&](const question& x) {
    return now > x.at + patience || answers(x, now);
  });
}

// A connection, a delimiter, then: version, number, domain, address, identity,
// mechanism, key.
std::optional<door::question> door::next_question(instant now) {
  const auto parts = request_in(asked_);
  if (parts.empty())
    return std::nullopt;
  question out{.from = parts[0].to_string(),
               .number = parts.size() > 3 ? parts[3].to_string() : "",
               .who = {},
               .at = now};
  public_key who{};
  if (parts.size() == 9 && parts[7].to_string_view() == "CURVE"
      && parts[8].size() == who.size()) {
    std::memcpy(who.data(), parts[8].data(), who.size());
    out.who = who;
  }
  return out;
}

// False: nobody can say for the moment. ZAP has a word for that (300), upon
// which libzmq lets the connection be until its handshake has taken too long.
bool door::answers(const question& x, instant now) {
  const auto standing = x.who ? keys_.standing(*x.who) : key_standing::unknown;
  if (standing == key_standing::unsure)
    return false;
  const bool good = may_come_in(standing);
  const auto user = good ? to_hex(*x.who) : std::string{};
  if (good)
    known_[user] = {standing, now};
  else
    refused_->add(reason_of(standing), now);
  const std::array<std::string, 8> reply{
    x.from, "", "1.0", x.number, good ? "200" : "400", "", user, ""};
  for (std::size_t i = 0; i < reply.size(); ++i)
    (void)asked_.send(zmq::buffer(reply[i]), i + 1 < reply.size()
                                               ? zmq::send_flags::sndmore
                                               : zmq::send_flags::none);
  return true;
}

key_standing door::standing_of(const std::string& user, instant now) {
  if (known_.size() > limits::keys_remembered)
    known_.clear();
  auto [found, is_new] = known_.try_emplace(user);
  auto& x = found->second;
  if (is_new || now >= x.at + memory) {
    const auto who = from_hex<32>(user);
    x = {who ? keys_.still(*who) : key_standing::unknown, now};
  }
  return x.standing;
}

bool door::admits(const std::string& user, instant now) {
  return may_come_in(standing_of(user, now));
}

bool door::hears(const std::string& user, instant now) {
  if (admits(user, now))
    return true;
  refused_->add(refusal::denied_key, now);
  return false;
}

bool door::hears(const piece& x, const std::string& user, instant now) {
  if (standing_of(user, now) == key_standing::allowed
      || x.kind == piece_kind::opened)
    return true;
  if (x.kind == piece_kind::framed && x.channel.value == 0
      && x.body.bytes.size() <= hello_bytes_max)
    return true;
  refused_->add(refusal::beyond_enrolment, now);
  return false;
}

std::string user_of(const zmq::message_t& x) {
  const auto* name = zmq_msg_gets(x.handle(), "User-Id");
  return name == nullptr ? std::string{} : std::string{name};
}

} // namespace troupe::transport
