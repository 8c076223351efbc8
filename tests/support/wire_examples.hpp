#pragma once

// One message of each kind, no two fields of which hold the same value, so that
// a field written in another's place shows.

#include <vector>

#include "actors/messages/wire.hpp"

namespace troupe::test {

messages::ticket example_ticket();

/// In the order of `any_message`: all kinds, each once.
std::vector<messages::any_message> example_messages();

} // namespace troupe::test
