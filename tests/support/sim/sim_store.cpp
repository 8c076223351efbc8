#include "tests/support/sim/sim_store.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace troupe::test {

namespace {

std::set<std::pair<visit_id, line_id>>
parts_of(const messages::round_record& x) {
  std::set<std::pair<visit_id, line_id>> result;
  for (const auto& visit : x.visits)
    for (const auto line : visit.lines)
      result.insert({visit.visit, line});
  return result;
}

} // namespace

sim_store::sim_store(const models::layout& blocks, const offers_made& made,
                     rules how)
  : blocks_(blocks),
    made_(made),
    rules_(how),
    inner_(actors::make_memory_store(messages::seal_key{1, 2, 3})) {
  // nop
}

result<actors::stored_node> sim_store::load() {
  return inner_->load();
}

result<void>
sim_store::begin(line_id line,
                 const std::vector<messages::merged_block>& first) {
  lines_[line] = {{line, version{0}, round_number{0}, first, {}}};
  return inner_->begin(line, first);
}

result<void> sim_store::commit(const messages::commit_requested& x) {
  auto& line = lines_.at(x.line);
  if (x.head == line.back().head) {
    EXPECT_EQ(x.merged, line.back().merged)
      << "another commit for a stored version";
    return inner_->commit(x);
  }
  EXPECT_EQ(x.head.value, line.back().head.value + 1)
    << "versions must form a line";
  EXPECT_FALSE(has_ended()) << "a version comes after last visits began";
  judge(x);
  line.push_back(x);
  return inner_->commit(x);
}

void sim_store::judge(const messages::commit_requested& x) {
  const auto& before = lines_.at(x.line).back();
  EXPECT_FALSE(x.merged.empty()) << "a version without offers";
  EXPECT_EQ(x.blocks.size(), blocks_.find(x.line)->blocks.size())
    << "a group is merged in part";
  for (const auto& visit : x.merged) {
    const bool first = merged_.insert({x.line, visit}).second;
    EXPECT_TRUE(first) << "an offer is merged twice, of client "
                       << visit.client.value;
    windows_[x.line][visit.client].insert(visit.number);
    found_merged_ += rules_.arrived && rules_.arrived->was_found(x.line, visit);
    mix(visit.client.value * 1000003 + visit.number.value);
    const auto found = made_.find(visit);
    if (found == made_.end()) {
      ADD_FAILURE() << "an offer is merged that nobody made";
      return;
    }
    std::size_t parts = 0;
    for (const auto& block : found->second.blocks)
      if (const auto* known = blocks_.find(block.block);
          known && known->line == x.line) {
        ++parts;
        EXPECT_LE(staleness(block.base, before.head), rules_.staleness_max)
          << "a merged offer is too stale";
      }
    if (parts != x.blocks.size()) {
      ADD_FAILURE() << "an offer is merged that is not the one in the record";
      return;
    }
  }
  for (std::size_t i = 0; i < x.blocks.size(); ++i) {
    const auto& block = *blocks_.find(x.blocks[i].block);
    EXPECT_EQ(*x.blocks[i].values, replay(x, block, i))
      << "version " << x.head.value << " of block " << block.name
      << " is not the merge of its offers";
    EXPECT_EQ(x.blocks[i].digest, models::digest_of(block, *x.blocks[i].values))
      << "a digest is not that of its values";
  }
}

namespace {

/// How far a merge goes: the server's rate belongs to what is averaged.
double rate_of(const merge_rule& x, double server_rate) {
  switch (x.kind) {
    case merge_kind::replace:
      return 1;
    case merge_kind::mix:
      return x.amount;
    default:
      return server_rate;
  }
}

} // namespace

/// The specification of a merge: integers that count steps of the grid, added
/// in the order of the visits' ids and not of their arrival.
std::vector<float> sim_store::replay(const messages::commit_requested& x,
                                     const models::block_layout& block,
                                     std::size_t index) const {
  const auto& line = lines_.at(x.line);
  if (block.merge.kind == merge_kind::sum_over)
    return sum_of_all(x, block, index);
  const auto& before = *line.back().blocks[index].values;
  const double steps = std::exp2(block.grid.fraction_bits);
  auto merged = x.merged;
  std::ranges::sort(merged);
  std::int64_t total = 0;
  std::vector<std::int64_t> sum(before.size());
  for (const auto& visit : merged) {
    const auto& offer = made_.at(visit);
    const auto part =
      std::ranges::find(offer.blocks, block.id, &messages::offer_block::block);
    const auto factor =
      part->weight
      * policies::weight_of(rules_.discount,
                            staleness(part->base, line.back().head));
    total += std::llrint(part->weight * steps);
    for (std::size_t j = 0; j < sum.size(); ++j) {
      // Rows that a prefix lacks are zeros.
      if (j >= part->delta->size()) {
        sum[j] += std::llrint(factor * -static_cast<double>(before[j]) * steps);
        continue;
      }
      auto value = static_cast<double>((*part->delta)[j]);
      if (rules_.target_is_model)
        value =
          static_cast<float>(value
                             + static_cast<double>((
                               *line[part->base.value].blocks[index].values)[j])
                             - static_cast<double>(before[j]));
      sum[j] += std::llrint(factor * value * steps);
    }
  }
  const auto divisor = static_cast<double>(total);
  const double rate = rate_of(block.merge, rules_.rate);
  std::vector<float> result;
  for (std::size_t j = 0; j < sum.size(); ++j)
    result.push_back(
      static_cast<float>(static_cast<double>(before[j])
                         + rate * (static_cast<double>(sum[j]) / divisor)));
  return result;
}

/// What was ever offered to it, whole and however stale, over how many clients
/// there are. What it begins with is that of all clients of its first version.
std::vector<float> sim_store::sum_of_all(const messages::commit_requested& x,
                                         const models::block_layout& block,
                                         std::size_t index) const {
  const auto& line = lines_.at(x.line);
  const double steps = std::exp2(block.grid.fraction_bits);
  const auto first = line.size() > 1 ? line[1].admitted : x.admitted;
  std::vector<double> sum;
  for (const auto y : *line.front().blocks[index].values)
    sum.push_back(static_cast<double>(y) * static_cast<double>(first));
  const auto add = [&](const std::vector<visit_id>& merged) {
    std::vector<std::int64_t> added(sum.size());
    for (const auto& visit : merged) {
      const auto& offer = made_.at(visit);
      const auto part = std::ranges::find(offer.blocks, block.id,
                                          &messages::offer_block::block);
      for (std::size_t j = 0; j < added.size(); ++j)
        added[j] += std::llrint(
          part->weight * static_cast<double>((*part->delta)[j]) * steps);
    }
    for (std::size_t j = 0; j < added.size(); ++j)
      sum[j] += static_cast<double>(added[j]) / steps;
  };
  for (std::size_t i = 1; i < line.size(); ++i)
    add(line[i].merged);
  add(x.merged);
  EXPECT_GT(x.admitted, 0u);
  std::vector<float> result;
  for (const auto y : sum)
    result.push_back(static_cast<float>(y / static_cast<double>(x.admitted)));
  return result;
}

result<std::optional<messages::version_published>>
sim_store::read(const messages::version_wanted& x) {
  std::optional<messages::version_published> found;
  for (const auto& y : lines_.at(x.line))
    if (x.exact == messages::no_version ? y.round <= x.cut : y.head == x.exact)
      found = {.line = y.line,
               .head = y.head,
               .round = y.round,
               .blocks = messages::without_moments(y.blocks),
               .merged = {}};
  reads_ += found.has_value();
  return found;
}

result<void> sim_store::save(const messages::save_requested& x) {
  for (const auto& record : x.clients) {
    auto& upto = reserved_[record.client];
    EXPECT_GE(record.numbers_upto, upto) << "reserved numbers are taken back";
    upto = record.numbers_upto;
  }
  if (x.round)
    judge(*x.round);
  if (x.end != messages::course_end::none)
    end_ = x.end;
  for (const auto& visit : x.last_visits)
    had_last_.insert(visit.client);
  return inner_->save(x);
}

void sim_store::judge(const messages::round_record& x) {
  for (const auto& pass : x.cohort)
    invited_.insert(pass.visit);
  if (closed_ && x.round == closed_->round) {
    // A save may be repeated as it is. What a line refuses after all, or does
    // not come again after a restart, is struck out.
    const auto before = parts_of(*closed_);
    const auto after = parts_of(x);
    EXPECT_TRUE(x.closed != 0 && std::ranges::includes(before, after))
      << "a round is closed twice";
    lists_struck_ += after.size() < before.size();
  }
  if (closed_) {
    EXPECT_GE(x.round, closed_->round) << "rounds go back";
  }
  if (x.closed == 0)
    return;
  closed_ = x;
}

result<void> sim_store::note(const messages::line_noted& x) {
  ++notes_;
  EXPECT_LT(x.text.size(), 100'000u) << "a line of the record has no bound";
  if (rules_.noted)
    rules_.noted(x.text);
  return inner_->note(x);
}

} // namespace troupe::test
