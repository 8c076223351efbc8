#include "node/replay/replayed_line.hpp"

#include <algorithm>

namespace troupe::node {

namespace {

/// Under the wall clock whoever serves versions hears of them a little after
/// they are recorded.
constexpr std::uint64_t lag = 4;

} // namespace

replayed_line::replayed_line(actors::ledger::options rules,
                             std::vector<messages::merged_block> first)
  : rules_(std::move(rules)) {
  head_.blocks = std::move(first);
  for (const auto& block : head_.blocks)
    known_[head()].push_back(block.values);
}

version replayed_line::oldest_at_hand() const {
  return {head().value - std::min(head().value, lag)};
}

version replayed_line::open() {
  return *needed_.insert(oldest_at_hand());
}

void replayed_line::release(version from) {
  needed_.erase(needed_.find(from));
}

const std::vector<shared_values>* replayed_line::find(version x) const {
  const auto found = known_.find(x);
  return found == known_.end() ? nullptr : &found->second;
}

void replayed_line::offer(messages::part_offered x) {
  const auto visit = x.visit;
  pending_.insert_or_assign(visit, std::move(x));
}

void replayed_line::refuse(visit_id x) {
  pending_.erase(x);
}

bool replayed_line::holds(visit_id x) const {
  return pending_.contains(x);
}

result<messages::merge_requested>
replayed_line::merge_of(std::span<const visit_id> visits) {
  std::vector<messages::part_offered> batch;
  for (const auto& visit : visits) {
    auto part = pending_.extract(visit);
    if (!part)
      return fail(errc::invalid_data,
                  "nothing: client " + std::to_string(visit.client.value)
                    + ", visit " + std::to_string(visit.number.value)
                    + " has no offer that waits for it");
    batch.push_back(std::move(part.mapped()));
  }
  std::ranges::sort(batch, {}, &messages::part_offered::visit);
  return actors::merge_of(rules_, head_, batch, known_);
}

void replayed_line::admit(std::uint64_t clients) {
  head_.admitted = clients;
}

void replayed_line::adopt(const std::vector<messages::merged_block>& blocks) {
  head_.head = next(head());
  head_.blocks = blocks;
  for (const auto& block : blocks)
    known_[head()].push_back(block.values);
  auto oldest = oldest_at_hand();
  if (!needed_.empty())
    oldest = std::min(oldest, *needed_.begin());
  known_.erase(known_.begin(), known_.lower_bound(oldest));
}

} // namespace troupe::node
