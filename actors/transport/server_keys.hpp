#pragma once

#include <functional>
#include <vector>

#include "core/keys.hpp"

namespace troupe::transport {

struct server_keys {
  key_pair own;
  /// Asked on the socket's thread, of who comes.
  std::function<key_standing(const public_key&)> standing;
  /// The same, of who came, again and again while somebody is heard: it does
  /// not wait for a disk.
  std::function<key_standing(const public_key&)> still;
};

struct dialler_keys {
  key_pair own;
  public_key server{};
  /// What the server may have in its place by now, in the order in which one
  /// comes after the other.
  std::vector<public_key> later = {};
};

} // namespace troupe::transport
