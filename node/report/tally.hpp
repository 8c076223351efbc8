#pragma once

// What events.jsonl says, added up: who took part, and how stale what was
// merged had become.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/report/flat_record.hpp"
#include "policies/request_watch.hpp"
#include "policies/visit_window.hpp"

namespace troupe::node {

/// Memory grows with clients and lines, and not with visits.
class event_tally {
public:
  struct participation {
    std::uint64_t invited = 0;
    std::uint64_t merged = 0; ///< Visits of which some version holds a part.
  };

  struct line_tally {
    std::uint64_t offers = 0; ///< Merged.
    std::uint64_t staleness_sum = 0;
    std::uint64_t staleness_max = 0;
  };

  /// @param of experts that visits say they ask for; none: they say nothing of
  /// it
  explicit event_tally(const policies::request_watch::options& of);

  event_tally() = default;

  /// Takes the next event.
  void add(const flat_record& x);

  std::uint64_t events() const noexcept {
    return events_;
  }

  const std::map<client_id, participation>& clients() const noexcept {
    return clients_;
  }

  /// Merged offers by the versions between their base and the version before
  /// the one that holds them: 0 is fresh.
  const std::map<std::uint64_t, std::uint64_t>& staleness() const noexcept {
    return staleness_;
  }

  /// By the line's number.
  const std::map<std::uint64_t, line_tally>& lines() const noexcept {
    return lines_;
  }

  /// A line's number by the digests of its first version.
  const std::map<std::string, std::uint64_t>& first_digests() const noexcept {
    return first_digests_;
  }

  std::uint64_t invited() const noexcept {
    return invited_;
  }

  std::uint64_t merged() const noexcept {
    return merged_;
  }

  /// How else visits ended, by what the event says.
  const std::map<std::string, std::uint64_t>& other_ends() const noexcept {
    return other_ends_;
  }

  std::uint64_t rounds() const noexcept {
    return rounds_;
  }

  /// Of each client how often it asked for each expert.
  const std::map<client_id, std::vector<std::uint64_t>>&
  requests() const noexcept {
    return requests_;
  }

  /// The same of all clients, and whom they asked for first. Null: they say
  /// nothing of it.
  const policies::request_watch* asked() const noexcept {
    return asked_ ? &*asked_ : nullptr;
  }

private:
  struct fetch {
    std::uint64_t visit;
    std::uint64_t version;
  };

  void note_fetch(const flat_record& x);
  void note_version(const flat_record& x);
  void note_request(const flat_record& x);
  void merged_one(client_id client, std::uint64_t visit, std::uint64_t line,
                  std::uint64_t version);

  std::uint64_t events_ = 0;
  std::uint64_t invited_ = 0;
  std::uint64_t merged_ = 0;
  std::uint64_t rounds_ = 0;
  std::map<client_id, participation> clients_;
  std::map<std::uint64_t, std::uint64_t> staleness_;
  std::map<std::uint64_t, line_tally> lines_;
  std::map<std::string, std::uint64_t> first_digests_;
  std::map<std::string, std::uint64_t> other_ends_;
  /// The last few that each client fetched of each line.
  std::map<std::pair<client_id, std::uint64_t>, std::vector<fetch>> bases_;
  policies::visit_windows counted_;
  std::optional<policies::request_watch> asked_;
  std::map<client_id, std::vector<std::uint64_t>> requests_;
};

} // namespace troupe::node
