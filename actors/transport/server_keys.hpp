#pragma once

#include <functional>
#include <vector>

#include "core/keys.hpp"

namespace troupe::transport {

struct server_keys {
  key_pair own;
  /// Asked on the socket's thread, and again while somebody is heard.
  std::function<key_standing(const public_key&)> standing;
};

struct dialler_keys {
  key_pair own;
  public_key server{};
  /// What the server may have in its place by now, in the order in which one
  /// comes after the other.
  std::vector<public_key> later = {};
};

} // namespace troupe::transport
