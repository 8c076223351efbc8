#pragma once

// A ledger of one line with one block of one value, and what it says.

#include <gtest/gtest.h>

#include "actors/aggregator/ledger.hpp"

namespace troupe::actors {

using messages::commit_requested;
using messages::merge_requested;
using policies::verdict;

inline const auto zero = share({0.f});
inline const line_id line{1};

inline messages::part_offered offer(std::uint64_t client, std::uint64_t number,
                                    std::uint64_t base = 0) {
  return {.visit = {{client}, {number}},
          .line = line,
          .lines_total = 1,
          .round = {},
          .base = {base},
          .blocks = {{{1}, 0, 1, zero}},
          .loss = 0};
}

/// What a test sets of a ledger's options.
struct rules {
  policies::admission_limits admission = {};
  policies::staleness_discount discount = {};
  std::size_t buffer_size = 1;
  bool by_round = false;
  bool target_is_model = false;
  sent_as sent = sent_as::f32;
  std::size_t client_most = ~std::size_t{0};
};

inline std::vector<messages::merged_block> values(float x) {
  return {{.block = {1}, .values = share({x}), .moments = {}, .digest = {}}};
}

inline ledger make(const rules& x) {
  ledger::options options;
  options.line = line;
  options.blocks.resize(1);
  options.blocks[0].id = {1};
  options.blocks[0].sent = x.sent;
  options.admission = x.admission;
  options.discount = x.discount;
  options.buffer_size = x.buffer_size;
  options.by_round = x.by_round;
  options.target_is_model = x.target_is_model;
  options.client_most = x.client_most;
  ledger::durable found;
  found.blocks = values(0);
  return {options, found};
}

/// What the gateway hears of a visit: nothing while it is pending.
inline std::vector<verdict> answers(ledger& testee) {
  std::vector<verdict> result;
  for (const auto& x : testee.take_notices())
    if (const auto* answer = std::get_if<messages::part_answered>(&x))
      result.push_back(answer->verdict);
  return result;
}

inline std::vector<verdict> answers_to(ledger& testee,
                                       const messages::part_offered& x) {
  testee.offer(x);
  return answers(testee);
}

template <class T>
T due(ledger& testee) {
  const auto job = testee.next();
  EXPECT_TRUE(job && std::holds_alternative<T>(*job));
  return job && std::holds_alternative<T>(*job) ? std::get<T>(*job) : T{};
}

inline void merge(ledger& testee) {
  due<merge_requested>(testee);
  testee.merged({line, testee.head(), values(0)});
}

/// Merges and commits the batch that is due. Returns the visits in the version.
inline std::vector<visit_id> turn(ledger& testee) {
  merge(testee);
  auto visits = due<commit_requested>(testee).merged;
  testee.committed();
  return visits;
}

using verdicts = std::vector<verdict>;
using visits = std::vector<visit_id>;

} // namespace troupe::actors
