#include "actors/gateway/screen.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "core/bf16.hpp"
#include "core/limits.hpp"
#include "kernels/backend.hpp"
#include "models/adapters/rank_prefix.hpp"
#include "policies/mixing.hpp"

namespace troupe::actors {

using policies::verdict;

namespace {

/// Different whole numbers, one at least.
bool names_instances(const std::vector<double>& values) {
  std::set<double> different;
  return !values.empty() && std::ranges::all_of(values, [&](double v) {
    return v == std::floor(v) && different.insert(v).second;
  });
}

bool is_sound_part(const messages::disclosed_values& x,
                   std::span<const disclosure> declared) {
  if (x.index >= declared.size())
    return false;
  const auto& rule = declared[x.index];
  if (x.values.size() > rule.count_max)
    return false;
  double sum = 0;
  for (const double v : x.values) {
    if (!(v >= rule.min && v <= rule.max)) // Fails for NaN.
      return false;
    sum += v;
  }
  if (!rule.chosen_of.empty() && !names_instances(x.values))
    return false;
  return !rule.sum || std::abs(sum - *rule.sum) <= 1e-6;
}

bool is_sound_part(const messages::offer_block& x,
                   const models::block_layout& block, std::uint64_t examples,
                   const screening_rules& rules) {
  if (x.rank > block.rank || !x.delta)
    return false;
  // Few rules know what to make of missing ranks.
  if (x.rank != 0 && x.rank < block.rank
      && !policies::takes_few_ranks(block.merge.kind))
    return false;
  if (x.delta->size() != models::prefix_size(block, x.rank))
    return false;
  if (block.sent == sent_as::bf16 && !x.delta.is_bf16() && !all_bf16(*x.delta))
    return false;
  // A weight below a step would vanish from the total; NaN fails as well.
  if (!(x.weight >= block.grid.step())
      || !policies::within_bounds(x.weight,
                                  {block.weight, rules.weighting, examples}))
    return false;
  return kernels::check_term({*x.delta, x.weight}, block.grid).has_value();
}

/// The shares of a family add up to at most one: who spreads its weight over
/// many instances cannot have more of it.
bool shares_are_bounded(const messages::offer_made& x, std::uint64_t examples,
                        const screening_rules& rules) {
  std::map<std::string_view, double> totals;
  for (const auto& part : x.blocks) {
    const auto& block = *rules.blocks->find(part.block);
    if (!has_shares(block.weight))
      continue;
    auto& total = totals[block.family];
    total += part.weight;
    if (!policies::within_bounds(total,
                                 {block.weight, rules.weighting, examples}))
      return false;
  }
  return true;
}

double squared_norm(const messages::offer_made& x) {
  double sum = 0;
  for (const auto& block : x.blocks)
    for (const float v : *block.delta)
      sum += static_cast<double>(v) * static_cast<double>(v);
  return sum;
}

/// Each line at most once, in order.
bool fetched_soundly(const messages::offer_made& x,
                     const models::layout& blocks) {
  for (std::size_t i = 0; i < x.fetched.size(); ++i) {
    const auto line = x.fetched[i].line;
    if ((i > 0 && line <= x.fetched[i - 1].line) || !blocks.find(line))
      return false;
  }
  return true;
}

/// Each line that is offered to has all its blocks, on one base.
bool lines_are_whole(const messages::offer_made& x,
                     const models::layout& blocks) {
  for (const auto& line : blocks.lines) {
    std::size_t here = 0;
    version base{};
    for (const auto& part : x.blocks) {
      if (blocks.find(part.block)->line != line.id)
        continue;
      if (here++ > 0 && part.base != base)
        return false;
      base = part.base;
    }
    if (here != 0 && here != line.blocks.size())
      return false;
  }
  return true;
}

} // namespace

std::optional<verdict> screen(const messages::offer_made& x,
                              std::uint64_t examples,
                              const screening_rules& rules) {
  if (x.blocks.empty() || x.blocks.size() > limits::blocks_max
      || !(std::abs(x.loss) <= limits::loss_max))
    return verdict::malformed;
  for (std::size_t i = 0; i < x.blocks.size(); ++i) {
    const auto& part = x.blocks[i];
    if (i > 0 && part.block <= x.blocks[i - 1].block)
      return verdict::malformed;
    const auto* block = rules.blocks->find(part.block);
    if (!block)
      return verdict::unknown_expert;
    if (!is_sound_part(part, *block, examples, rules))
      return verdict::malformed;
  }
  if (!lines_are_whole(x, *rules.blocks)
      || !shares_are_bounded(x, examples, rules)
      || !discloses_soundly(x, rules.disclosures)
      || !fetched_soundly(x, *rules.blocks))
    return verdict::malformed;
  if (rules.norm_max > 0
      && !(squared_norm(x) <= rules.norm_max * rules.norm_max))
    return verdict::malformed;
  return std::nullopt;
}

bool discloses_soundly(const messages::offer_made& x,
                       std::span<const disclosure> declared) {
  // At most once and in order: what is bounded one by one is then bounded as a
  // whole.
  std::size_t reals = 0;
  for (std::size_t i = 0; i < x.disclosures.size(); ++i) {
    const auto& values = x.disclosures[i];
    if (i > 0 && values.index <= x.disclosures[i - 1].index)
      return false;
    if (!is_sound_part(values, declared))
      return false;
    reals += values.values.size();
  }
  return reals <= limits::disclosed_reals_max;
}

std::vector<messages::part_offered> split(const messages::offer_made& x,
                                          std::uint64_t examples,
                                          const screening_rules& rules) {
  std::vector<messages::part_offered> parts;
  for (const auto& from : x.blocks) {
    const auto& block = *rules.blocks->find(from.block);
    const auto line = block.line;
    auto at = std::ranges::find(parts, line, &messages::part_offered::line);
    if (at == parts.end()) {
      parts.push_back({.visit = x.pass.visit,
                       .line = line,
                       .round = x.pass.round,
                       .base = from.base,
                       .blocks = {},
                       .loss = x.loss});
      at = std::prev(parts.end());
    }
    at->blocks.push_back(from);
    if (has_shares(block.weight))
      at->blocks.back().share =
        from.weight
        / policies::largest_weight({block.weight, rules.weighting, examples});
  }
  for (auto& part : parts)
    part.lines_total = static_cast<std::uint32_t>(parts.size());
  return parts;
}

} // namespace troupe::actors
