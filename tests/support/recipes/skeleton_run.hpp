#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/recipes/skeleton.hpp"
#include "tests/support/sim/conversation.hpp"

namespace troupe::test {

using visit_said = conversation::visit_said;

/// A run that is over.
struct skeleton_run {
  sim_method how;
  conversation said{personal_marks};
  tally happened;
  std::unique_ptr<sim_node> node;

  const models::layout& blocks() const {
    return node->blocks();
  }

  line_id line(const std::string& name) const {
    return blocks().find(name)->line;
  }

  std::vector<line_id> lines(const std::string& family) const {
    std::vector<line_id> result;
    for (const auto block : blocks().family(family))
      result.push_back(blocks().find(block)->line);
    return result;
  }

  /// The lines of a family that a visit offers to.
  std::vector<line_id> offered(const visit_said& x,
                               const std::string& family) const {
    std::vector<line_id> result;
    for (const auto& part : x.offer->blocks)
      if (const auto& block = *blocks().find(part.block);
          block.family == family)
        result.push_back(block.line);
    return result;
  }

  void for_each_offer(auto f) const {
    std::size_t count = 0;
    for (const auto& [id, x] : said.visits())
      if (x.offer) {
        f(x);
        ++count;
      }
    EXPECT_GT(count, 6u) << "hardly anybody offered anything";
  }
};

struct world_of_run {
  pace_kind mode = pace_kind::sync;
  std::uint64_t seed = 1;
  bool kind = true; ///< Without faults.
  std::uint64_t versions = 4;
  std::uint64_t staleness_max = 4;
};

/// Runs to the end, with all checks of the simulator.
std::unique_ptr<skeleton_run> run(sim_method how, const world_of_run& x);

const char* name_of(pace_kind x);

/// Without faults under both paces, and with them under one.
inline void for_each_world(sim_method (*make)(), auto check) {
  for (const world_of_run& x :
       {world_of_run{.mode = pace_kind::sync},
        world_of_run{.mode = pace_kind::fedbuff},
        world_of_run{.mode = pace_kind::fedbuff, .seed = 4, .kind = false}}) {
    SCOPED_TRACE(std::string{name_of(x.mode)} + (x.kind ? "" : " with faults"));
    check(*run(make(), x));
  }
}

} // namespace troupe::test
