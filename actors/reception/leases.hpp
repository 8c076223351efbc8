#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "actors/messages/terms.hpp"
#include "core/ids.hpp"
#include "core/result.hpp"

namespace troupe::actors {

/// Which process speaks for which clients of the run's partition. Who asks
/// again has the same ones, and more if it asks for more.
class leases {
public:
  using owner = messages::store_id;

  /// @param clients from 1 to this
  explicit leases(std::uint64_t clients = 0) : clients_(clients) {
    // nop
  }

  /// The clients of `who`, `count` of them, the lowest free numbers. An error
  /// says how many there are left.
  result<std::vector<client_id>> give(const owner& who, std::uint32_t count);

  std::uint64_t size() const noexcept {
    return clients_;
  }

  std::uint64_t free() const noexcept {
    return clients_ - taken_.size();
  }

  const std::map<owner, std::set<client_id>>& all() const noexcept {
    return by_owner_;
  }

  /// As it was stored. False: what was stored is not of this run.
  bool restore(const std::map<owner, std::set<client_id>>& x);

private:
  std::uint64_t clients_;
  std::map<owner, std::set<client_id>> by_owner_;
  std::set<client_id> taken_;
};

} // namespace troupe::actors
