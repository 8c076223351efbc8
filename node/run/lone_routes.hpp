#pragma once

// Requests on their way from a gateway through the router to those who keep
// what they ask for, in one thread, with nothing else in the system.

#include <cstdint>
#include <memory>
#include <vector>

#include "actors/messages/internal.hpp"

namespace troupe::node {

class lone_routes {
public:
  explicit lone_routes(const std::vector<line_id>& lines);
  ~lone_routes();

  void send(const messages::serve_requested& x);

  /// Lets all arrive. Returns how many have come so far.
  std::uint64_t settle();

private:
  struct actors_alone;

  std::unique_ptr<actors_alone> all_;
};

} // namespace troupe::node
