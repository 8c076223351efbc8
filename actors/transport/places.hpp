#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/transport/link_end.hpp"
#include "core/clock.hpp"

namespace troupe::transport {

/// A link and where its connection is.
struct place {
  std::uint64_t number = 0; ///< From 1; of who dialled: 0.
  link_end link;
  std::string route = {};           ///< Of a ROUTER; empty: nowhere.
  std::string user = {};            ///< Its key, in digits; empty without.
  std::optional<piece> unsent = {}; ///< What ZeroMQ had no room for.
  std::uint64_t heard = 0;          ///< When, in messages of all.
  instant lost_at{};                ///< Its connection, the last time.
  instant spoke_at{};
};

/// All links of a process.
class places {
public:
  using link_options = std::function<link_end::options(std::uint64_t number)>;

  explicit places(link_options make) : make_(std::move(make)) {
    // nop
  }

  place& add(std::uint64_t number);

  /// Null if it is gone.
  place* find(std::uint64_t number);

  /// Whom a piece is from, on a server. A link is found by what `opened` names;
  /// what comes before it is nobody's, and a connection is of one link. Nobody
  /// finds the link of another key.
  place* of(const std::string& route, const std::string& user, const piece& x);

  /// It has no connection any more.
  void lost(place& x, instant now);

  /// Nothing waits for anybody who is there.
  bool is_idle() const;

  /// Those that have a connection, or had it at `then` or later.
  std::vector<std::uint64_t> here(instant then) const;

  /// Whether others need the memory that it takes by not reading.
  bool is_greedy(const place& x) const;

  /// Who has said nothing since `then` has no claim to room that others wait
  /// for.
  void forget_silent_holders(instant then);

  std::map<std::uint64_t, place>& all() noexcept {
    return all_;
  }

private:
  place& with(const std::string& user, std::uint64_t instance);
  void forget_oldest();

  link_options make_;
  std::map<std::uint64_t, place> all_;
  std::map<std::string, std::uint64_t> routes_;
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> instances_;
  std::uint64_t last_ = 0;
};

} // namespace troupe::transport
