#include "policies/catalogue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <span>
#include <sstream>

namespace troupe::policies::catalogue_test {

namespace {

std::string text_of(const std::string& path) {
  std::ifstream in{std::string{TROUPE_SOURCE_DIR} + "/" + path};
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

const block_spec& block_of(const recipe& method, std::string_view name) {
  return *std::ranges::find(method.blocks, name, &block_spec::name);
}

/// A recipe that is in order: two legs, a choice, anchors with an expert of
/// their own.
recipe two_legs() {
  return {.name = "two_legs",
          .summary = "for tests",
          .blocks = {{.name = "gate"},
                     {.name = "expert", .where = scope::expert, .count = 4},
                     {.name = "own", .where = scope::personal}},
          .legs = {{.fetch = {{.family = "gate"}}, .choice = {"top"}},
                   {.fetch = {{.family = "expert", .chosen = true}}}},
          .roles = {{.name = "anchor",
                     .quota = 2,
                     .procedure = {"apart"},
                     .choice_fixed = true,
                     .members = 4},
                    {.name = "common", .procedure = {"joint"}}},
          .disclosures = {{.name = "request", .count_max = 2, .max = 4}}};
}

/// The recipe above, after a change that breaks it.
std::string complaint(auto change) {
  auto x = two_legs();
  change(x);
  const auto found = check(x);
  return found ? "" : found.error().context;
}

} // namespace

TEST(catalogue, each_recipe_makes_sense_and_has_a_name_of_its_own) {
  std::set<std::string> names;
  for (const auto& x : catalogue()) {
    const auto found = check(x);
    EXPECT_TRUE(found) << found.error().context;
    EXPECT_FALSE(x.summary.empty());
    EXPECT_TRUE(names.insert(x.name).second);
    EXPECT_EQ(find_recipe(x.name), &x);
  }
  for (const auto* name : {"fedavg", "fedprox", "scaffold", "ditto", "local"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(catalogue, announced_methods_are_not_built) {
  EXPECT_TRUE(announced_methods().empty());
  for (const auto name : announced_methods())
    EXPECT_EQ(find_recipe(name), nullptr) << name;
}

TEST(catalogue, synchronous_runs_are_exact_and_no_other_is) {
  for (const auto& x : catalogue()) {
    EXPECT_EQ(standing_of(x, pace_kind::sync), standing::exact);
    EXPECT_TRUE(remark_on(x, pace_kind::sync).empty());
    for (const auto pace :
         {pace_kind::semisync, pace_kind::fedbuff, pace_kind::fedasync}) {
      EXPECT_NE(standing_of(x, pace), standing::exact) << x.name;
      EXPECT_FALSE(remark_on(x, pace).empty()) << x.name;
    }
  }
}

TEST(catalogue, rounds_without_all_whom_they_invite_are_no_publication_s_loop) {
  const auto& fedavg = *find_recipe("fedavg");
  for (const auto field :
       {&circumstances::closes_early, &circumstances::over_selects,
        &circumstances::clips, &circumstances::rounds}) {
    circumstances x{pace_kind::sync};
    x.*field = true;
    EXPECT_EQ(standing_of(fedavg, x), standing::extension)
      << "a departure is called exact";
    EXPECT_FALSE(remark_on(fedavg, x).empty());
    EXPECT_EQ(standing_of(*find_recipe("local"), x), standing::exact);
  }
  circumstances buffered{pace_kind::fedbuff};
  buffered.over_selects = true;
  EXPECT_EQ(remark_on(fedavg, buffered),
            remark_on(fedavg, circumstances{pace_kind::fedbuff}));
}

TEST(catalogue, says_how_offers_of_some_ranks_are_merged) {
  const auto& x = *find_recipe("hetlora");
  EXPECT_EQ(formula_of(x, pace_kind::sync),
            "x + r·Σ(w·d) / Σ(w), w the norm of what a client adds, d = -x in "
            "ranks that a client lacks");
  EXPECT_EQ(formula_of(x, pace_kind::fedasync),
            "x + r·s·d, d = -x in ranks that a client lacks");
  EXPECT_EQ(formula_of(*find_recipe("fedavg"), pace_kind::sync),
            "x + r·Σ(n·d) / Σ(n)");
  EXPECT_EQ(formula_of(*find_recipe("flexlora"), pace_kind::sync),
            "Σ(n·p) / Σ(n) factored anew, p the product of a client's factors");
}

// Fetched it is a part of the layout, so that nobody with another one comes in.
TEST(catalogue, whatever_stands_below_adapters_is_fetched) {
  for (const auto& method : catalogue())
    for (const auto& block : method.blocks)
      if (block.where == scope::frozen && block.name == "model") {
        std::set<std::string> fetched;
        for (const auto& leg : method.legs)
          for (const auto& x : leg.fetch)
            fetched.insert(x.family);
        EXPECT_TRUE(fetched.contains(block.name)) << method.name;
      }
}

TEST(catalogue, what_is_factored_anew_has_rounds) {
  const auto& x = *find_recipe("flexlora");
  for (const auto pace :
       {pace_kind::semisync, pace_kind::fedbuff, pace_kind::fedasync}) {
    EXPECT_EQ(standing_of(x, pace), standing::refused);
    EXPECT_EQ(remark_on(x, pace),
              "Its offers mean nothing outside of the round that they were "
              "made in.");
  }
}

TEST(catalogue, what_sums_over_clients_is_not_mixed_in_alone) {
  const auto& summed = *find_recipe("scaffold");
  EXPECT_EQ(standing_of(summed, pace_kind::fedasync), standing::refused);
  EXPECT_EQ(standing_of(summed, pace_kind::fedbuff), standing::extension);
  auto only_sync = *find_recipe("fedavg");
  EXPECT_EQ(standing_of(only_sync, pace_kind::fedasync), standing::extension);
  only_sync.asynchronous = standing::refused;
  EXPECT_EQ(standing_of(only_sync, pace_kind::semisync), standing::refused);
}

TEST(catalogue, control_variates_move_with_their_model) {
  const auto& x = *find_recipe("scaffold");
  const auto& model = block_of(x, "model");
  const auto& control = block_of(x, "control");
  EXPECT_FALSE(model.group.empty());
  EXPECT_EQ(model.group, control.group);
  EXPECT_EQ(model.merge.kind, merge_kind::mean);
  EXPECT_EQ(control.merge.kind, merge_kind::sum_over);
  EXPECT_EQ(model.weight, weight_rule::one);
  EXPECT_EQ(control.weight, weight_rule::one);
  EXPECT_EQ(block_of(x, "own_control").where, scope::personal);
  EXPECT_EQ(x.state, state_rule::on_accept);
}

TEST(with_buffers, moves_statistics_out_of_the_visit_unless_they_are_averaged) {
  const auto& method = *find_recipe("fedavg");
  const auto scope_under = [&](buffer_policy policy) {
    const auto x = with_buffers(method, policy);
    const auto found = check(x);
    EXPECT_TRUE(found) << found.error().context;
    EXPECT_EQ(x.legs[0].fetch.size(),
              policy == buffer_policy::average ? 2u : 1u);
    EXPECT_EQ(block_of(x, "model").where, scope::shared);
    return block_of(x, "model.buffers").where;
  };
  EXPECT_EQ(scope_under(buffer_policy::average), scope::shared);
  EXPECT_EQ(scope_under(buffer_policy::local), scope::personal);
  EXPECT_EQ(scope_under(buffer_policy::freeze), scope::frozen);
}

TEST(with_options, says_how_many_there_are_and_how_far_a_mean_moves_them) {
  const auto& floral = *find_recipe("floral");
  const auto adapters = [&](const options& said) {
    return block_of(with_options(floral, said).value(), "adapter");
  };
  EXPECT_EQ(adapters({{"components", 7}}).count, 7u);
  EXPECT_EQ(adapters({{"adapter_server_rate", 1}}).merge, merge_rule{});
  const merge_rule slow{.kind = merge_kind::mix, .amount = 0.1};
  EXPECT_EQ(adapters({{"adapter_server_rate", 0.1}}).merge, slow);
  EXPECT_FALSE(with_options(floral, {{"components", 0.5}}));
  for (const double bad : {0.0, -1.0, 1.5, HUGE_VAL, std::nan("")})
    EXPECT_FALSE(with_options(floral, {{"adapter_server_rate", bad}})) << bad;
  auto robust = floral;
  for (auto& x : robust.blocks)
    x.merge.kind = merge_kind::median;
  EXPECT_TRUE(with_options(robust, {{"adapter_server_rate", 1}}));
  const auto refused = with_options(robust, {{"adapter_server_rate", 0.1}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().context,
            "option 'adapter_server_rate' of method 'floral' is 1 where the "
            "rule is not the mean, found 0.100000");
}

TEST(with_options, says_how_many_ranks_there_are) {
  const auto& hetlora = *find_recipe("hetlora");
  const auto ranks = [&](const options& said) {
    return block_of(with_options(hetlora, said).value(), "adapter").rank;
  };
  EXPECT_EQ(ranks({}), 12u);
  EXPECT_EQ(ranks({{"rank", 4}}), 4u);
  const auto refused = with_options(hetlora, {{"rank", 0.1}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().context,
            "option 'rank' of method 'hetlora' must be an integer from 1 to "
            "1024, found 0.100000");
}

TEST(catalogue, the_page_about_methods_has_the_table) {
  EXPECT_NE(text_of("docs/methods.md").find(pairs_as_markdown()),
            std::string::npos)
    << "docs/methods.md lacks this, word for word:\n"
    << pairs_as_markdown();
}

TEST(check_recipe, accepts_two_legs_with_anchors) {
  EXPECT_EQ(complaint([](recipe&) {}), "");
}

TEST(check_recipe, says_where_and_what_would_do) {
  EXPECT_EQ(
    complaint([](recipe& x) { x.legs[1].fetch[0].family = "experts"; }),
    "recipe 'two_legs': leg 2 fetches 'experts', which is no block of it; its "
    "blocks are gate, expert, own");
}

// Each change breaks one rule; the text that must be said stands beside it.
struct broken {
  void (*change)(recipe&);
  const char* said;
};

void expect_each_found(std::span<const broken> all) {
  for (const auto& [change, said] : all)
    EXPECT_NE(complaint(change).find(said), std::string::npos)
      << "expected: " << said << "\nfound: " << complaint(change);
}

TEST(check_recipe, finds_blocks_that_do_not_fit) {
  const broken all[]{
    {[](recipe& x) { x.name = ""; }, "no name"},
    {[](recipe& x) { x.blocks.clear(); }, "no blocks"},
    {[](recipe& x) { x.blocks[1].name = "gate"; },
     "two blocks are named 'gate'"},
    {[](recipe& x) { x.blocks[1].count = 0; }, "count of 0"},
    {[](recipe& x) { x.blocks[2].group = "g"; },
     "only shared and expert blocks"},
    {[](recipe& x) { x.blocks[0].group = x.blocks[1].group = "g"; },
     "differ in scope or count"},
    {[](recipe& x) {
       x.blocks[0].merge = {.kind = merge_kind::mix, .amount = 2};
     },
     "amount is 2"},
    {[](recipe& x) { x.blocks[0].merge.kind = merge_kind::padded; },
     "merged by rank"},
    {[](recipe& x) {
       x.blocks[0].merge.kind = merge_kind::product_svd;
       x.asynchronous = standing::refused;
     },
     "merged by rank"},
    {[](recipe& x) {
       x.blocks[0].merge.kind = merge_kind::product_svd;
       x.blocks[0].rank = 4;
     },
     "has other factors in each version"},
    {[](recipe& x) { x.blocks[0].rank_counter = "rank"; }, "offered by rank"},
    {[](recipe& x) { x.blocks[0].personal_option = "nobody"; },
     "made personal by 'nobody'"},
    {[](recipe& x) { x.blocks[0].examples_option = "nobody"; },
     "weighs by examples where 'nobody' says so"},
    {[](recipe& x) {
       x.disclosures.clear();
       x.blocks[1].weight = weight_rule::examples_times_share;
     },
     "no message discloses"},
    {[](recipe& x) {
       x.blocks = {{.name = "own", .where = scope::frozen}};
       x.legs = {{.fetch = {{.family = "own"}}}};
       x.roles = {{.procedure = {"joint"}}};
     },
     "no shared or expert block"},
  };
  expect_each_found(all);
}

TEST(check_recipe, finds_options_that_do_not_fit) {
  const broken all[]{
    {[](recipe& x) { x.options = {{.name = "a", .says = "a"}}; }, "no unit"},
    {[](recipe& x) { x.options = {{.name = "a", .says = {}, .unit = "a"}}; },
     "no description"},
    {[](recipe& x) {
       x.options = {{.name = "a", .says = "a", .value = NAN, .unit = "a"}};
     },
     "it must be a number from 0 to 1e+30"},
    {[](recipe& x) {
       x.options = {
         {.name = "a", .says = "a", .kind = option_kind::flag, .value = 2}};
     },
     "it must be true or false"},
    {[](recipe& x) {
       x.options = {{.name = "a", .says = "a", .kind = option_kind::choice}};
     },
     "no choice"},
    {[](recipe& x) {
       x.options = {{.name = "a", .says = "a", .unit = "a"},
                    {.name = "a", .says = "a", .unit = "a"}};
     },
     "two options are named 'a'"},
    {[](recipe& x) { x.blocks[1].count_option = "many"; },
     "its count of 4 is said by option 'many', which is missing"},
  };
  expect_each_found(all);
}

TEST(check_recipe, finds_legs_and_roles_that_do_not_fit) {
  const broken all[]{
    {[](recipe& x) { x.legs.clear(); }, "no legs"},
    {[](recipe& x) { x.legs[0].fetch.clear(); }, "fetches nothing"},
    {[](recipe& x) { x.legs[0].fetch[0].family = "own"; }, "never travels"},
    {[](recipe& x) { x.legs[0].fetch[0].chosen = true; }, "there is only one"},
    {[](recipe& x) {
       x.legs[0].choice = {};
       x.roles = {{.procedure = {"joint"}}};
     },
     "nothing chose before"},
    {[](recipe& x) { x.legs[1].fetch.push_back({.family = "gate"}); }, "again"},
    {[](recipe& x) { x.legs.pop_back(); }, "no leg fetches block 'expert'"},
    {[](recipe& x) { x.roles.clear(); }, "no roles"},
    {[](recipe& x) { x.roles[1].name = "anchor"; }, "two roles are named"},
    {[](recipe& x) { x.roles[1].procedure = {}; }, "no procedure"},
    {[](recipe& x) { x.roles[0].quota = 0; }, "no quota"},
    {[](recipe& x) { x.roles[1].quota = 3; }, "takes the rest"},
    {[](recipe& x) { x.roles[0].quota = 5; }, "5 and 4 members"},
    {[](recipe& x) { x.roles[0].members = 5; }, "ties 5 members"},
    {[](recipe& x) { x.roles[1].members = 5; }, "exactly one role"},
    {[](recipe& x) { x.legs[1].fetch[0].chosen = false; },
     "no leg fetches what is chosen"},
    {[](recipe& x) { x.disclosures[0].count_max = 0; }, "up to 0 values"},
    {[](recipe& x) { x.disclosures[0].min = 5; }, "no finite range"},
    {[](recipe& x) { x.disclosures[0].sum = 9; }, "cannot add up to 9"},
    {[](recipe& x) { x.offers = false, x.state = state_rule::on_accept; },
     "nothing is offered"},
    {[](recipe& x) { x.offers = false, x.finish = {"last"}; },
     "no other one offers anything"},
    {[](recipe& x) { x.blocks.pop_back(), x.finish = {"last"}; },
     "no personal block that they could change"},
  };
  expect_each_found(all);
}

} // namespace troupe::policies::catalogue_test
