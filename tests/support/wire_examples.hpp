#pragma once

// One message of each kind, no two fields of which hold the same value, so that
// a field written in another's place shows.

#include <string_view>
#include <vector>

#include "actors/messages/wire.hpp"

namespace troupe::test {

messages::ticket example_ticket();

/// A message with the name of its type, under which its golden files stand.
struct wire_example {
  std::string_view name;
  messages::any_message message;
};

/// In the order of `any_message`: all kinds, each once.
std::vector<wire_example> example_messages();

} // namespace troupe::test
