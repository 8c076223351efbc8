#include "node/replay/replayed_line.hpp"

#include <algorithm>

namespace troupe::node {

replayed_line::replayed_line(actors::ledger::options rules,
                             std::vector<messages::merged_block> first)
  : rules_(std::move(rules)) {
  head_.blocks = std::move(first);
  for (const auto& block : head_.blocks)
    known_[head()].push_back(block.values);
}

void replayed_line::hold(version x) {
  held_.insert(x);
}

void replayed_line::release(version x) {
  held_.erase(held_.find(x));
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

result<void> replayed_line::check(std::span<const visit_id> visits) const {
  if (rules_.by_round)
    return {};
  if (visits.size() != rules_.buffer_size)
    return fail(errc::invalid_data,
                "a version of " + std::to_string(visits.size())
                  + " offers; the configuration makes them of "
                  + std::to_string(rules_.buffer_size));
  std::map<client_id, std::size_t> has;
  for (const auto& visit : visits) {
    if (++has[visit.client] > rules_.client_most)
      return fail(errc::invalid_data,
                  "a version holds more offers of client "
                    + std::to_string(visit.client.value)
                    + " than the configuration's client_share");
    const auto part = pending_.find(visit);
    if (part == pending_.end())
      continue; // `merge_of` says so.
    const auto behind = staleness(part->second.base, head());
    if (behind > rules_.admission.staleness_max)
      return fail(errc::invalid_data,
                  "a version holds an offer of client "
                    + std::to_string(visit.client.value) + " that is "
                    + std::to_string(behind)
                    + " versions behind; the configuration allows "
                    + std::to_string(rules_.admission.staleness_max));
  }
  return {};
}

result<void> replayed_line::check_too_stale(visit_id x) const {
  const auto part = pending_.find(x);
  if (part == pending_.end()
      || policies::state_of(head_.merged, x)
           == policies::visit_window::state::closed)
    return {};
  const auto behind = staleness(part->second.base, head());
  if (behind > rules_.admission.staleness_max)
    return {};
  return fail(errc::invalid_data,
              "an offer of client " + std::to_string(x.client.value) + " is "
                + std::to_string(behind)
                + " versions behind and refused as too stale; the "
                  "configuration allows "
                + std::to_string(rules_.admission.staleness_max));
}

void replayed_line::admit(std::uint64_t clients) {
  head_.admitted = clients;
}

void replayed_line::adopt(const std::vector<messages::merged_block>& blocks,
                          std::span<const visit_id> merged,
                          const std::function<bool(version)>& will_be_held) {
  head_.head = next(head());
  for (const auto& visit : merged)
    head_.merged[visit.client].insert(visit.number);
  head_.blocks = blocks;
  for (const auto& block : blocks)
    known_[head()].push_back(block.values);
  std::erase_if(known_, [&](const auto& x) {
    return x.first != head() && !held_.contains(x.first)
           && !will_be_held(x.first);
  });
}

} // namespace troupe::node
