// What offers are based on, and what they add to the head.

#include <algorithm>

#include "actors/aggregator/ledger.hpp"
#include "core/assert.hpp"
#include "models/adapters/rank_prefix.hpp"

namespace troupe::actors {

using policies::verdict;

namespace {

// What an offer adds to the head: its delta or, where models are mixed, the way
// from the head to the client's model, which began with what it was sent. A sum
// over all clients is no model.
offered_block aimed(const ledger::options& how, const ledger::durable& head,
                    const messages::part_offered& x, std::size_t block,
                    const version_values& known) {
  auto aim = x.blocks[block];
  if (!how.target_is_model
      || how.blocks[block].merge.kind == merge_kind::sum_over)
    return aim;
  const auto part_of = [&](const shared_values& values) {
    return models::take_prefix(how.blocks[block], aim.rank, values);
  };
  const auto from =
    part_of(models::sent_of(how.blocks[block], known.at(x.base)[block]));
  const auto to = part_of(head.blocks[block].values);
  auto result = aim.delta.copy();
  for (std::size_t j = 0; j < result.size(); ++j)
    result[j] = static_cast<float>(static_cast<double>(result[j])
                                   + static_cast<double>((*from)[j])
                                   - static_cast<double>((*to)[j]));
  aim.delta = share(std::move(result));
  return aim;
}

} // namespace

messages::merge_requested
merge_of(const ledger::options& how, const ledger::durable& head,
         std::span<const messages::part_offered> batch,
         const version_values& known) {
  messages::merge_requested job{.line = how.line,
                                .base = head.head,
                                .blocks = {},
                                .step = how.step,
                                .admitted = head.admitted};
  for (std::size_t b = 0; b < how.blocks.size(); ++b) {
    const auto& rules = how.blocks[b];
    messages::block_merge merge{.block = rules.id,
                                .rule = rules.merge,
                                .base = head.blocks[b].values,
                                .moments = head.blocks[b].moments,
                                .terms = {},
                                .grid = rules.grid,
                                .alone = !how.by_round && how.buffer_size == 1};
    for (const auto& x : batch)
      merge.terms.push_back(
        {aimed(how, head, x, b, known),
         rules.merge.kind == merge_kind::sum_over
           ? 1 // The client moves its own by all of it.
           : policies::weight_of(how.discount, staleness(x.base, head.head)),
         x.visit});
    job.blocks.push_back(std::move(merge));
  }
  return job;
}

// False where the distance between two versions leaves the range of exact sums:
// such an offer would fail its batch for ever.
bool ledger::can_be_aimed(const messages::part_offered& x) const {
  if (!options_.target_is_model)
    return true;
  for (std::size_t b = 0; b < x.blocks.size(); ++b) {
    const auto aim = aimed(options_, found_, x, b, history_);
    if (!kernels::check_term({*aim.delta, aim.weight}, options_.blocks[b].grid))
      return false;
  }
  return true;
}

// Its base is too far behind, or so many newer visits of its client are merged
// that nobody could tell any more whether it is.
bool ledger::is_past(const messages::part_offered& x) const {
  return staleness(x.base, head()) > options_.admission.staleness_max
         || policies::state_of(found_.merged, x.visit)
              == policies::visit_window::state::closed;
}

// It was merged long ago, or before a restart.
std::optional<version> ledger::base_to_find() const {
  if (!options_.target_is_model)
    return std::nullopt;
  for (const auto at : next_batch())
    if (!history_.contains(pending_[at].base))
      return pending_[at].base;
  return std::nullopt;
}

/// What is merged next, as far as it is here. Of what waits behind it no bases
/// are held, or they would have no bound.
std::vector<std::size_t> ledger::next_batch() const {
  std::vector<std::size_t> places;
  std::map<client_id, std::size_t> has;
  for (std::size_t i = 0;
       i < pending_.size() && places.size() < options_.buffer_size; ++i)
    if (!has_bound() || has[pending_[i].visit.client]++ < options_.client_most)
      places.push_back(i);
  return places;
}

void ledger::found(const messages::version_wanted& what,
                   const messages::version_read& x) {
  TROUPE_ASSERT(in_flight_);
  in_flight_ = false;
  if (x.found) {
    auto& values = history_[what.exact];
    for (const auto& block : x.found->blocks)
      values.push_back(block.values);
    return;
  }
  pending_list rest;
  for (auto& part : pending_)
    if (part.base != what.exact) {
      rest.push_back(std::move(part));
    } else {
      kept_.erase(part.visit);
      refuse(part, verdict::withdrawn);
    }
  pending_ = std::move(rest);
}

void ledger::remember_head() {
  if (!options_.target_is_model)
    return;
  auto& values = history_[head()];
  values.clear();
  for (const auto& x : found_.blocks)
    values.push_back(x.values);
  std::size_t bytes = 0;
  for (const auto& x : values)
    bytes += x->size() * sizeof(float);
  const auto most = std::min<std::size_t>(
    options_.admission.staleness_max + 1,
    1 + options_.history_bytes_max / std::max<std::size_t>(bytes, 1));
  const auto is_needed = [this](version x) {
    return std::ranges::any_of(
      next_batch(), [&](std::size_t at) { return pending_[at].base == x; });
  };
  for (auto at = history_.begin();
       history_.size() > most && at->first < head();)
    at = is_needed(at->first) ? std::next(at) : history_.erase(at);
}

} // namespace troupe::actors
