#pragma once

// What a joining process knows of its server's keys, beside its clients: a
// small file for each key that has another one behind it,
//
//   servers/KEY       the next, and until when the one before is taken
//
// so that a server is found under its newest key by whoever knows an old one.

#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include "core/keys.hpp"
#include "core/result.hpp"

namespace troupe::node {

class known_servers {
public:
  explicit known_servers(const std::filesystem::path& store)
    : folder_(store / "servers") {
    // nop
  }

  /// What a server may have now that had this key once, in the order in which
  /// one comes after the other; at least one.
  [[nodiscard]] result<std::vector<public_key>> keys(const public_key& first,
                                                     std::int64_t now_ms) const;

  /// A server with the key `now` will have the other; until then, and for some
  /// time longer, either. Durable when this returns.
  [[nodiscard]] result<void> told(const public_key& now, const public_key& next,
                                  std::int64_t until_ms) const;

  /// It has that one now.
  [[nodiscard]] result<void> met(const public_key& before,
                                 const public_key& now) const;

private:
  std::filesystem::path path_of(const public_key& x) const;

  std::filesystem::path folder_;
};

} // namespace troupe::node
