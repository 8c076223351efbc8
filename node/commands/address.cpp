#include "node/commands/address.hpp"

#include <string>

namespace troupe::node {

namespace {

bool is_port(std::string_view x) {
  return !x.empty() && x.size() <= 5
         && x.find_first_not_of("0123456789") == x.npos
         && std::stoul(std::string{x}) <= 65'535;
}

} // namespace

bool is_on_this_machine(std::string_view address) {
  for (const std::string_view host : {"tcp://127.0.0.1:", "tcp://[::1]:"})
    if (address.starts_with(host))
      return is_port(address.substr(host.size()));
  return false;
}

bool is_address(std::string_view x) {
  const auto port = x.rfind(':');
  return x.starts_with("tcp://") && port != x.npos && port > 6
         && x.find_first_of(";,/ \t\n", 6) == x.npos
         && is_port(x.substr(port + 1));
}

// As 0.0.0.0, [::] or *, however many zeros there are.
bool is_every_address(std::string_view x) {
  return is_address(x)
         && x.substr(0, x.rfind(':')).find_first_not_of("0.:[]*", 6) == x.npos;
}

} // namespace troupe::node
