#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "actors/aggregator/ledger.hpp"
#include "core/result.hpp"

namespace troupe::node {

/// A version line as a replay makes it again: the head, and of the versions
/// before it those that a visit may still need, and offers without a verdict.
class replayed_line {
public:
  replayed_line(actors::ledger::options rules,
                std::vector<messages::merged_block> first);

  version head() const noexcept {
    return head_.head;
  }

  /// A visit has fetched this version, which stays until it is released.
  void hold(version x);
  void release(version x);

  /// A version's values, block by block; null if it is not here.
  const std::vector<shared_values>* find(version x) const;

  /// A part of an offer waits for its verdict: a version holds it or none will.
  void offer(messages::part_offered x);
  void refuse(visit_id x);
  bool holds(visit_id x) const;

  /// What merging the parts of these visits into the head takes; they no longer
  /// wait. Returns `invalid_data` if one has no part here. @pre the base of
  /// each part is here
  result<messages::merge_requested> merge_of(std::span<const visit_id> visits);

  /// Whether the configuration lets the next version be made of these offers:
  /// as many as a buffer holds, none too stale.
  [[nodiscard]] result<void> check(std::span<const visit_id> visits) const;

  /// Whether it lets this offer be refused as too stale.
  [[nodiscard]] result<void> check_too_stale(visit_id x) const;

  /// The next version's sums are over so many clients.
  void admit(std::uint64_t clients);

  /// The next version. Those before it go, unless they are held or will be.
  void adopt(const std::vector<messages::merged_block>& blocks,
             std::span<const visit_id> merged,
             const std::function<bool(version)>& will_be_held);

  const std::vector<messages::merged_block>& blocks() const noexcept {
    return head_.blocks;
  }

private:
  actors::ledger::options rules_;
  actors::ledger::durable head_;
  actors::version_values known_;
  std::multiset<version> held_;
  std::map<visit_id, messages::part_offered> pending_;
};

} // namespace troupe::node
