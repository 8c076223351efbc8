#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace troupe::http {

/// Who makes room for one more: the oldest connection of the address that has
/// most of them, so that nobody puts out the readers of another address by
/// coming often.
/// @param peers addresses of all connections, the oldest first; not empty
std::size_t who_makes_room(std::span<const std::string> peers);

} // namespace troupe::http
