#pragma once

// Which virtual clients are there, and when: what their owners do with them
// (availability), what breaks (crashes), and what a scenario says. All of it is
// a function of the options and of the versions that the run makes.

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "core/clock.hpp"
#include "core/ids.hpp"
#include "core/result.hpp"

namespace troupe::policies {

/// What a client notices of it.
enum class life_event : std::uint8_t {
  come,  ///< It says hello, for the first time or again.
  go,    ///< It says that it leaves, and drops what it was working on.
  drain, ///< It finishes its visit, takes no other, and leaves.
  crash, ///< It is gone without a word. What it had stored is there afterwards.
};

struct life {
  client_id client;
  life_event what{};

  friend bool operator==(const life&, const life&) = default;
};

struct always_available {};

/// Of each period a client is there for a part, which begins where its own
/// phase says: half a day each, spread over the time zones.
struct available_windows {
  double period = 86400; ///< Seconds.
  double share = 0.5;
};

/// From and to, in seconds of the run. Who is not listed is never there.
struct recorded_availability {
  std::map<client_id, std::vector<std::pair<double, double>>> stretches;
};

/// The closed set that a configuration can name.
using availability =
  std::variant<always_available, available_windows, recorded_availability>;

struct crash_options {
  double per_hour = 0; ///< Of each client, while it runs; exponential gaps.
  double restart_seconds = 60;
};

/// One line of a scenario: what happens to the clients `first` to `last`, at a
/// time or when the lead line reaches a version.
struct scene {
  enum class kind : std::uint8_t { join, leave, drain, fail };

  std::variant<instant, version> when;
  kind what = kind::leave;
  client_id first;
  client_id last;
  /// `fail`: until it restarts. None: it does not.
  std::optional<double> restart_seconds = {};
};

/// Clients that a scenario lets join are not there before.
class presence {
public:
  struct options {
    std::uint64_t seed = 0;
    std::uint64_t clients = 0; ///< 1 to this.
    availability available = always_available{};
    crash_options crashes = {};
    std::vector<scene> scenario = {};
  };

  explicit presence(options opts);

  /// Whoever is there at the beginning.
  std::set<client_id> at_first() const;

  /// What happens up to `now`, in the order of time and of clients.
  [[nodiscard]] std::vector<life> until(instant now);

  /// The lead line has reached `head`.
  [[nodiscard]] std::vector<life> reached(version head, instant now);

  /// When `until` has something to say.
  std::optional<instant> next() const;

  static constexpr auto fields(auto& x) {
    return std::tie(x.clients_, x.changes_, x.played_);
  }

private:
  enum class cause : std::uint8_t { script, restart, crash, appear, vanish };

  struct change {
    instant at{};
    client_id client; ///< 0: of the script.
    cause why{};
    std::uint64_t index = 0; ///< Of the scene.

    static constexpr auto fields(auto& x) {
      return std::tie(x.at, x.client, x.why, x.index);
    }

    friend auto operator<=>(const change&, const change&) = default;
  };

  struct entry {
    bool available = true;
    bool wanted = true; ///< By the scenario.
    bool running = true;
    std::uint64_t crashes = 0; ///< So far: which gap comes next.

    bool there() const noexcept {
      return available && wanted && running;
    }

    static constexpr auto fields(auto& x) {
      return std::tie(x.available, x.wanted, x.running, x.crashes);
    }
  };

  void plan_availability(client_id who, entry& x, instant after);
  void plan_crash(client_id who, const entry& x, instant after);
  void happen(const change& x, std::vector<life>& out);
  void play(const scene& x, instant now, std::vector<life>& out);
  void crash(client_id who, std::optional<double> restart, instant now,
             std::vector<life>& out);

  options options_;
  std::map<client_id, entry> clients_;
  std::set<change> changes_;
  std::set<std::uint64_t> played_; ///< Scenes that wait for a version no more.
};

/// A recorded availability: CSV with the columns client, from and to, in any
/// order of rows. Returns `invalid_data` that names `origin` and the line.
[[nodiscard]] result<recorded_availability>
parse_availability(std::string_view text, std::string_view origin);

} // namespace troupe::policies
