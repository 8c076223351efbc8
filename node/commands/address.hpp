#pragma once

#include <string_view>

namespace troupe::node {

/// One tcp://HOST:PORT, and nothing else: ZeroMQ understands more than one
/// address in a text.
bool is_address(std::string_view x);

/// The same of a host that is this machine.
bool is_on_this_machine(std::string_view address);

/// Of one that is bound: it is every address of this machine, and none that
/// somebody elsewhere could dial.
bool is_every_address(std::string_view address);

} // namespace troupe::node
