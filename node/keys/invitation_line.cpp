#include "node/keys/invitation_line.hpp"

#include "core/hex.hpp"
#include "node/keys/pair.hpp"

namespace troupe::node {

namespace {

constexpr std::string_view scheme = "tcp://";

} // namespace

std::string write_line(const invitation_line& x) {
  return x.address + '/' + to_hex(x.server) + '/' + to_hex(x.own.secret);
}

bool looks_like_line(std::string_view x) {
  return x.starts_with(scheme) && x.find('/', scheme.size()) != x.npos;
}

std::optional<invitation_line> read_line(std::string_view x) {
  if (!looks_like_line(x))
    return std::nullopt;
  const auto first = x.find('/', scheme.size());
  const auto second = x.find('/', first + 1);
  if (second == x.npos)
    return std::nullopt;
  const auto server = from_hex<32>(x.substr(first + 1, second - first - 1));
  const auto secret = from_hex<32>(x.substr(second + 1));
  if (!server || !secret)
    return std::nullopt;
  return invitation_line{std::string{x.substr(0, first)}, *server,
                         pair_of(*secret)};
}

} // namespace troupe::node
