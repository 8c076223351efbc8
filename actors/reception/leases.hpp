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

/// Which process speaks for which clients: those of the run's partition, and
/// such as bring data of their own and have names. Who asks again has the same
/// ones, and more if it asks for more.
class leases {
public:
  using owner = messages::store_id;

  struct room {
    std::uint64_t clients = 0; ///< Of the partition: from 1 to this.
    /// Clients with names have numbers above this, and so many have one.
    std::uint64_t named_above = 0;
    std::uint64_t named_max = 0;
  };

  /// Of somebody who has a name.
  struct named {
    owner who{};
    client_id client;

    friend bool operator==(const named&, const named&) = default;
  };

  /// What is durable of it.
  struct contents {
    std::map<owner, std::set<client_id>> by_owner = {};
    std::map<std::string, named> by_name = {};

    friend bool operator==(const contents&, const contents&) = default;
  };

  leases() : leases(room{}) {
    // nop
  }

  explicit leases(room x) : room_(x) {
    // nop
  }

  /// The clients of `who`, `count` of them, the lowest free numbers. An error
  /// says how many there are left, and what would do.
  result<std::vector<client_id>> give(const owner& who, std::uint32_t count);

  /// The number of the client that `who` calls so, for ever the same. An error
  /// says that it is no name, is another's, or that there are too many.
  result<client_id> give(const owner& who, const std::string& name);

  std::uint64_t size() const noexcept {
    return room_.clients;
  }

  std::uint64_t free() const noexcept {
    return room_.clients - taken_.size();
  }

  /// How many clients of others it has room for.
  std::uint64_t named_max() const noexcept {
    return room_.named_max;
  }

  /// How many of the partition `who` has.
  std::uint64_t numbers_of(const owner& who) const;

  /// And how many with names.
  std::uint64_t named_by(const owner& who) const;

  bool knows(const std::string& name) const {
    return all_.by_name.contains(name);
  }

  const contents& all() const noexcept {
    return all_;
  }

  /// As it was stored. An error says why this cannot be what was stored of this
  /// run: nothing has changed then.
  result<void> restore(const contents& x);

private:
  std::string too_many(const owner& who) const;

  room room_;
  contents all_;
  std::set<client_id> taken_; ///< Of the partition.
};

} // namespace troupe::actors
