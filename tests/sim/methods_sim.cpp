// What makes each method that method, held by its skeleton in the simulator.

#include <algorithm>
#include <cmath>

#include "tests/support/recipes/skeleton_run.hpp"

namespace troupe::test {

using policies::verdict;

TEST(ddome_sim,
     an_anchor_has_its_own_expert_and_others_as_many_as_they_ask_for) {
  for_each_world(ddome_skeleton, [](const skeleton_run& x) {
    const auto experts = x.lines("expert");
    std::size_t anchors = 0;
    x.for_each_offer([&](const visit_said& visit) {
      const auto who = visit.pass.visit.client.value;
      const auto got = x.offered(visit, "expert");
      const auto& wanted = visit.legs.at(1).wanted;
      EXPECT_EQ(visit.legs.at(0).wanted, std::set{x.line("gate")});
      EXPECT_EQ(x.offered(visit, "gate").size(), 1u);
      EXPECT_TRUE(std::ranges::equal(wanted, got))
        << "offered is what was fetched";
      const bool is_anchor = who <= ddome_anchors;
      EXPECT_EQ(visit.pass.role, is_anchor ? 0u : 1u);
      EXPECT_EQ(visit.offer->disclosures.empty(), is_anchor);
      if (is_anchor) {
        EXPECT_EQ(got, std::vector{experts[who - 1]}) << "of anchor " << who;
      } else {
        EXPECT_EQ(got.size(), ddome_wanted) << "of client " << who;
      }
      anchors += is_anchor;
    });
    EXPECT_GT(anchors, 2u);
  });
}

TEST(ddome_sim, the_window_keeps_the_quota_of_anchors) {
  const auto x = run(ddome_skeleton(), {.mode = pace_kind::sync});
  std::map<round_number, int> anchors;
  std::map<round_number, int> all;
  for (const auto& [id, visit] : x->said.visits()) {
    anchors[visit.pass.round] += visit.pass.role == 0;
    ++all[visit.pass.round];
  }
  for (const auto& [round, count] : anchors) {
    EXPECT_EQ(count, 2) << "in round " << round.value;
    EXPECT_EQ(all[round], 4) << "in round " << round.value;
  }
}

TEST(ddome_sim, an_expert_that_nobody_chose_keeps_its_version) {
  const auto x = run(ddome_skeleton(), {.mode = pace_kind::sync});
  std::size_t kept = 0;
  for (const auto line : x->lines("expert")) {
    std::set<round_number> chosen;
    x->for_each_offer([&](const visit_said& visit) {
      if (!std::ranges::count(x->offered(visit, "expert"), line))
        return;
      chosen.insert(visit.pass.round);
    });
    std::set<round_number> moved;
    for (const auto& version : x->node->store().line(line))
      if (version.head.value > 0)
        moved.insert(version.round);
    EXPECT_EQ(moved, chosen);
    kept += chosen.size() < x->node->store().head(x->line("gate")).value;
  }
  EXPECT_GT(kept, 0u) << "every expert was chosen in every round";
}

TEST(floral_sim, shares_add_up_to_one_and_weigh_the_adapters) {
  for_each_world(
    +[] { return floral_skeleton(); },
    [](const skeleton_run& x) {
      std::size_t left_out = 0;
      x.for_each_offer([&](const visit_said& visit) {
        ASSERT_EQ(visit.offer->disclosures.size(), 1u);
        const auto& pi = visit.offer->disclosures.front().values;
        ASSERT_EQ(pi.size(), 3u);
        EXPECT_NEAR(pi[0] + pi[1] + pi[2], 1, 1e-12);
        const auto n =
          static_cast<double>(examples_of(visit.pass.visit.client));
        std::set<std::uint32_t> here;
        for (const auto& part : visit.offer->blocks) {
          const auto& block = *x.blocks().find(part.block);
          if (block.family == "base") {
            EXPECT_EQ(part.weight, n);
          } else {
            EXPECT_EQ(part.weight, n * pi[block.instance]);
            here.insert(block.instance);
          }
        }
        for (std::uint32_t c = 0; c < 3; ++c)
          EXPECT_EQ(here.contains(c), pi[c] >= 0x1p-10) << "share " << pi[c];
        left_out += 3 - here.size();
      });
      EXPECT_GT(left_out, 0u)
        << "no share was ever small enough to be left out";
    });
}

TEST(floral_sim, shares_that_do_not_add_up_are_malformed) {
  const client_id liar{4};
  const auto x = run(floral_skeleton(liar), {.mode = pace_kind::fedbuff});
  std::size_t refused = 0;
  x->for_each_offer([&](const visit_said& visit) {
    if (visit.pass.visit.client == liar) {
      EXPECT_EQ(visit.ended, verdict::malformed);
      EXPECT_TRUE(visit.answers.empty());
      ++refused;
    } else {
      EXPECT_NE(visit.ended, verdict::malformed);
    }
  });
  EXPECT_GT(refused, 0u);
  for (const auto& line : x->blocks().lines)
    for (const auto& version : x->node->store().line(line.id))
      for (const auto& visit : version.merged)
        EXPECT_NE(visit.client, liar);
}

TEST(comigs_sim, specialists_stay_at_home_and_differ_in_number) {
  for_each_world(comigs_skeleton, [](const skeleton_run& x) {
    EXPECT_EQ(x.blocks().blocks.size(), 1u) << "only the generalist travels";
    std::set<std::uint32_t> numbers;
    for (const auto& [who, state] : x.node->states()) {
      if (state->visits == 0)
        continue;
      const auto count = specialists_of(who);
      EXPECT_EQ(state->blocks.size(), count + 1) << "of client " << who.value;
      EXPECT_EQ(state->blocks.at("router").own_view().size(),
                std::size(personal_marks) + count + 1);
      const auto routed = state->counters.find("routed");
      EXPECT_EQ(routed == state->counters.end() ? 0 : routed->second,
                state->visits / 2)
        << "the router learns at every second visit";
      numbers.insert(count);
    }
    EXPECT_GT(numbers.size(), 1u);
    EXPECT_GT(x.said.frames(), 100u);
    EXPECT_EQ(x.said.frames_with_marks(), 0u);
  });
}

TEST(comigs_sim, a_frame_with_personal_values_would_be_seen) {
  conversation testee{personal_marks};
  const auto sees = testee.witness().server_said;
  messages::line_served frame{};
  frame.visit = {{1}, {1}};
  sees({1}, messages::any_message{frame});
  EXPECT_EQ(testee.frames_with_marks(), 0u);
  frame.blocks.push_back(
    {{1}, share({1.0f, personal_marks[0], personal_marks[1]})});
  sees({1}, messages::any_message{frame});
  EXPECT_EQ(testee.frames_with_marks(), 1u);
}

TEST(pf2lora_sim, the_common_and_the_own_adapter_meet_the_data_together) {
  const auto x =
    run(pf2lora_skeleton(), {.mode = pace_kind::sync, .versions = 24});
  const auto& common =
    *x->node->store().line(x->line("adapter")).back().blocks.front().values;
  for (const auto& [who, state] : x->node->states()) {
    const auto own = own_values(*state, "own_adapter", 6);
    for (std::size_t j = 0; j < own.size(); ++j)
      EXPECT_NEAR(common[j] + own[j], pf2lora_optimum(who), 0.05) << who.value;
  }
  // Where nobody has rows of its own the common one goes between all.
  for (std::size_t j = 6; j < common.size(); ++j)
    EXPECT_NEAR(common[j], 1.25f, 0.2);
}

TEST(ifca_sim, all_models_are_fetched_and_one_is_offered) {
  for_each_world(ifca_skeleton, [](const skeleton_run& x) {
    const auto models = x.lines("model");
    std::set<line_id> used;
    x.for_each_offer([&](const visit_said& visit) {
      EXPECT_TRUE(std::ranges::equal(visit.legs.at(0).wanted, models));
      ASSERT_EQ(visit.offer->blocks.size(), 1u);
      const auto own = visit.pass.visit.client.value % models.size();
      EXPECT_EQ(x.offered(visit, "model"), std::vector{models[own]});
      ASSERT_EQ(visit.offer->disclosures.size(), 1u);
      EXPECT_EQ(visit.offer->disclosures.front().values,
                std::vector{static_cast<double>(own)});
      used.insert(models[own]);
    });
    EXPECT_GT(used.size(), 1u);
  });
}

TEST(scaffold_sim, the_group_commits_as_one) {
  for_each_world(scaffold_skeleton, [](const skeleton_run& x) {
    ASSERT_EQ(x.blocks().lines.size(), 1u);
    EXPECT_EQ(x.line("model"), x.line("control"));
    x.for_each_offer([&](const visit_said& visit) {
      ASSERT_EQ(visit.offer->blocks.size(), 2u);
      EXPECT_EQ(visit.offer->blocks[0].base, visit.offer->blocks[1].base);
      EXPECT_LE(visit.answers.size(), 1u);
    });
    for (const auto& version : x.node->store().line(x.line("model")))
      EXPECT_EQ(version.blocks.size(), 2u);
  });
}

TEST(scaffold_sim, the_own_variate_counts_what_was_accepted) {
  std::uint64_t offers = 0;
  std::uint64_t counted = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const auto x =
      run(scaffold_skeleton(),
          {.mode = pace_kind::fedbuff, .seed = seed, .staleness_max = 0});
    std::map<client_id, std::uint64_t> accepted;
    for (const auto& [id, visit] : x->said.visits())
      for (const auto& [line, said] : visit.answers)
        accepted[id.client] += said.what == verdict::accepted;
    x->for_each_offer([&](const visit_said&) { ++offers; });
    for (const auto& [who, state] : x->node->states()) {
      EXPECT_EQ(state->visits, accepted[who]) << "of client " << who.value;
      EXPECT_EQ(own_values(*state, "own_control", 4),
                std::vector<float>(4, static_cast<float>(state->visits)));
      counted += state->visits;
    }
  }
  EXPECT_LT(counted, offers) << "every offer was accepted";
}

namespace {

std::size_t rows_of(const messages::offer_block& x) {
  return x.rank == 0 ? prefix_rows : x.rank;
}

} // namespace

TEST(rank_prefix_sim, rows_above_all_offers_shrink_towards_zero) {
  std::size_t shrunk = 0;
  for_each_world(
    +[] { return rank_prefix_skeleton(); },
    [&](const skeleton_run& x) {
      const auto& line = x.node->store().line(x.line("adapter"));
      for (std::size_t v = 1; v < line.size(); ++v) {
        std::size_t rows = 0;
        for (const auto& visit : line[v].merged)
          rows = std::max(
            rows, rows_of(x.said.visits().at(visit).offer->blocks.front()));
        const auto& before = *line[v - 1].blocks.front().values;
        const auto& after = *line[v].blocks.front().values;
        for (std::size_t j = 0; j < before.size(); ++j)
          if (j < rows * prefix_columns)
            EXPECT_NE(before[j], after[j]) << j << " of version " << v;
          else {
            EXPECT_LE(std::abs(after[j]), 0.99f * std::abs(before[j]))
              << j << " of version " << v;
            shrunk += before[j] != 0;
          }
      }
      x.for_each_offer([&](const visit_said& visit) {
        const auto rank = rank_of(visit.pass.visit.client, prefix_rows);
        EXPECT_EQ(rows_of(visit.offer->blocks.front()), rank);
        EXPECT_EQ(visit.offer->blocks.front().delta->size(),
                  rank * prefix_columns);
        EXPECT_EQ(visit.offer->disclosures.front().values,
                  std::vector{static_cast<double>(rank)});
      });
    });
  EXPECT_GT(shrunk, 0u);
}

TEST(rank_prefix_sim, who_knows_its_rank_fetches_no_more) {
  for_each_world(
    +[] { return rank_prefix_skeleton(); },
    [](const skeleton_run& x) {
      std::set<client_id> known;
      std::size_t fewer = 0;
      for (const auto& [id, visit] : x.said.visits()) {
        const auto& ranks = visit.legs.empty()
                              ? std::map<line_id, std::uint32_t>{}
                              : visit.legs.front().ranks;
        const auto own = rank_of(id.client, prefix_rows);
        if (known.contains(id.client) && !visit.legs.empty()) {
          ASSERT_EQ(ranks.size(), 1u);
          EXPECT_EQ(ranks.begin()->second, own);
          ++fewer;
        }
        if (visit.offer)
          known.insert(id.client);
      }
      EXPECT_GT(fewer, 4u);
    });
}

TEST(rank_prefix_sim, rows_that_nobody_has_are_never_touched) {
  const auto x = run(rank_prefix_skeleton(2), {.mode = pace_kind::fedbuff});
  const auto& line = x->node->store().line(x->line("adapter"));
  ASSERT_GT(line.size(), 2u);
  const auto& values = *line.back().blocks.front().values;
  for (std::size_t j = 0; j < values.size(); ++j)
    EXPECT_EQ(values[j] == 0, j >= 2 * prefix_columns) << "value " << j;
}

} // namespace troupe::test
