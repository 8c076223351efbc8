#pragma once

#include <functional>

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
};

} // namespace troupe::transport
