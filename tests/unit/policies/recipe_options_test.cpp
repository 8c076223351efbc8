// Numbers of a recipe that its options say: of models, of those that a client
// asks for, of members and quotas.

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>

#include "policies/catalogue.hpp"

namespace troupe::policies::recipe_options_test {

namespace {

option_spec whole(const char* name, double value, double min) {
  return {.name = name,
          .says = "for tests",
          .kind = option_kind::whole,
          .value = value,
          .range = {.min = min, .max = 1024},
          .unit = "things"};
}

/// With all numbers that options may say.
recipe gated() {
  return {.name = "gated",
          .summary = "for tests",
          .blocks = {{.name = "common", .where = scope::frozen},
                     {.name = "gate"},
                     {.name = "model",
                      .where = scope::expert,
                      .count = 5,
                      .count_option = "experts"}},
          .legs = {{.fetch = {{.family = "common"}, {.family = "gate"}},
                    .choice = {"top"}},
                   {.fetch = {{.family = "model",
                               .chosen = true,
                               .chosen_max = 2,
                               .chosen_option = "chosen"}}}},
          .roles = {{.name = "anchor",
                     .quota = 5,
                     .procedure = {"apart"},
                     .choice_fixed = true,
                     .members = 5,
                     .quota_option = "per_round",
                     .members_option = "anchors"},
                    {.name = "common", .procedure = {"jointly"}}},
          .disclosures = {{.name = "request",
                           .count_max = 2,
                           .min = 0,
                           .max = 4,
                           .count_option = "chosen",
                           .chosen_of = "model"}},
          .options = {
            whole("experts", 5, 2),
            whole("chosen", 2, 1),
            whole("anchors", 5, 0),
            whole("per_round", 5, 0),
            {.name = "known", .says = "for tests", .kind = option_kind::flag}}};
}

recipe settled(const options& said) {
  const auto found = with_options(gated(), said);
  EXPECT_TRUE(found) << found.error().context;
  return found ? *found : gated();
}

std::string refused(const options& said) {
  const auto found = with_options(gated(), said);
  return found ? "" : found.error().context;
}

/// The recipe above, after a change that breaks it.
std::string complaint(auto change) {
  auto x = gated();
  change(x);
  const auto found = check(x);
  return found ? "" : found.error().context;
}

} // namespace

TEST(recipe_options, say_how_many_there_are_and_how_many_are_asked_for) {
  const auto x =
    settled({{"experts", 8}, {"chosen", 3}, {"anchors", 4}, {"per_round", 2}});
  EXPECT_EQ(x.blocks[2].count, 8u);
  EXPECT_EQ(x.legs[1].fetch[0].chosen_max, 3u);
  ASSERT_EQ(x.roles.size(), 2u);
  EXPECT_EQ(x.roles[0].members, 4u);
  EXPECT_EQ(x.roles[0].quota, 2u);
  EXPECT_EQ(x.disclosures[0].count_max, 3u);
  EXPECT_EQ(x.disclosures[0].min, 0);
  EXPECT_EQ(x.disclosures[0].max, 7) << "the last of eight";
}

TEST(recipe_options, that_nobody_says_are_as_the_recipe_has_them) {
  const auto x = settled({});
  EXPECT_EQ(x.blocks[2].count, 5u);
  EXPECT_EQ(x.legs[1].fetch[0].chosen_max, 2u);
  EXPECT_EQ(x.roles[0].members, 5u);
  EXPECT_EQ(x.disclosures[0].max, 4);
}

TEST(recipe_options, without_members_there_is_no_such_role) {
  const auto x = settled({{"anchors", 0}});
  ASSERT_EQ(x.roles.size(), 1u);
  EXPECT_EQ(x.roles[0].name, "common");
  EXPECT_EQ(refused({{"anchors", 0}, {"per_round", 0}}), "");
  EXPECT_EQ(refused({{"anchors", 0}, {"per_round", 700}}), "")
    << "nobody is there to be too many";
}

TEST(recipe_options, that_do_not_go_together_say_what_would_do) {
  EXPECT_EQ(refused({{"chosen", 7}}),
            "option 'chosen' of method 'gated' must be at most 'experts', 5, "
            "found 7; options.chosen=5 would do");
  EXPECT_EQ(refused({{"anchors", 6}}),
            "option 'anchors' of method 'gated' must be at most 'experts', 5, "
            "found 6; options.anchors=5 would do");
  EXPECT_EQ(refused({{"anchors", 3}}),
            "option 'per_round' of method 'gated' must be at most 'anchors', "
            "3, found 5 (its default); options.per_round=3 would do");
  EXPECT_EQ(refused({{"per_round", 0}}),
            "option 'per_round' of method 'gated' must be from 1 where there "
            "are anchors, found 0");
  EXPECT_EQ(refused({{"experts", 1}}),
            "option 'experts' of method 'gated' must be an integer from 2 to "
            "1024, found 1");
  EXPECT_EQ(refused({{"experts", 2}, {"anchors", 2}, {"per_round", 2}}), "");
  EXPECT_EQ(refused({{"chosen", 5}}), "") << "all of them may be asked for";
}

// What no option says is no refusal of one.
TEST(recipe_options, leave_a_bound_of_the_recipe_within_what_there_is) {
  auto x = gated();
  x.legs[1].fetch[0].chosen_option.clear();
  x.legs[1].fetch[0].chosen_max = 4;
  x.disclosures[0].count_option.clear();
  const auto found = with_options(
    x, {{"experts", 3}, {"anchors", 3}, {"per_round", 3}, {"chosen", 2}});
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_EQ(found->legs[1].fetch[0].chosen_max, 3u);
}

TEST(with_often, has_the_first_clients_in_a_role_before_all_others) {
  const auto& plain = *find_recipe("fedprox");
  const auto x = with_often(plain, 10, 4);
  ASSERT_TRUE(x) << x.error().context;
  ASSERT_EQ(x->roles.size(), 2u);
  EXPECT_EQ(x->roles[0].name, "often");
  EXPECT_EQ(x->roles[0].members, 10u);
  EXPECT_EQ(x->roles[0].quota, 4u);
  EXPECT_EQ(x->roles[0].procedure, plain.roles[0].procedure);
  EXPECT_FALSE(x->roles[0].choice_fixed);
  EXPECT_EQ(x->roles[1].name, plain.roles[0].name);
  EXPECT_TRUE(check(*x)) << check(*x).error().context;
  EXPECT_EQ(with_often(plain, 0, 4)->roles.size(), 1u);
}

TEST(with_options, makes_a_block_personal_that_an_option_says_is) {
  auto method = gated();
  method.blocks[1].personal_option = "known";
  EXPECT_TRUE(check(method)) << check(method).error().context;
  const auto shared = with_options(method, {});
  ASSERT_TRUE(shared) << shared.error().context;
  EXPECT_EQ(shared->blocks[1].where, scope::shared);
  EXPECT_EQ(shared->legs[0].fetch.back().family, "gate");
  const auto own = with_options(method, {{"known", 1}});
  ASSERT_TRUE(own) << own.error().context;
  EXPECT_EQ(own->blocks[1].where, scope::personal);
  ASSERT_EQ(own->legs[0].fetch.size(), 1u);
  EXPECT_EQ(own->legs[0].fetch[0].family, "common");
}

TEST(with_options, has_offers_weigh_by_examples_where_an_option_says_so) {
  const auto& homlora = *find_recipe("homlora");
  const auto equal = with_options(homlora, {});
  ASSERT_TRUE(equal) << equal.error().context;
  EXPECT_EQ(equal->blocks[1].weight, weight_rule::one);
  EXPECT_EQ(formula_of(*equal, pace_kind::sync), "x + r·Σ(1·d) / Σ(1)");
  const auto sized = with_options(homlora, {{"weights", 1}});
  ASSERT_TRUE(sized) << sized.error().context;
  EXPECT_EQ(sized->blocks[1].weight, weight_rule::examples);
  EXPECT_EQ(formula_of(*sized, pace_kind::sync), "x + r·Σ(n·d) / Σ(n)");
}

TEST(with_options, keeps_a_block_where_an_option_says_so) {
  auto method = *find_recipe("homlora");
  EXPECT_TRUE(check(method)) << check(method).error().context;
  const auto shared = with_options(method, {});
  ASSERT_TRUE(shared) << shared.error().context;
  EXPECT_EQ(shared->blocks.size(), method.blocks.size());
  EXPECT_FALSE(shared->personal);
  const auto own = with_options(method, {{"head", 1}});
  ASSERT_TRUE(own) << own.error().context;
  EXPECT_EQ(own->blocks.back().name, "own_adapter");
  EXPECT_EQ(own->blocks.back().where, scope::personal);
  EXPECT_TRUE(own->personal);
  method.own.option = "nobody";
  EXPECT_FALSE(check(method));
}

TEST(with_options, has_more_blocks_where_a_flag_says_so) {
  const auto& plain = *find_recipe("hetlora");
  const auto without = with_options(plain, {});
  ASSERT_TRUE(without) << without.error().context;
  ASSERT_EQ(without->blocks.size(), plain.blocks.size());
  EXPECT_EQ(without->legs[0].fetch.back().family, "adapter");
  EXPECT_TRUE(without->more.blocks.empty());
  const auto more = with_options(plain, {{"plain_attention", 1}});
  ASSERT_TRUE(more) << more.error().context;
  EXPECT_TRUE(check(*more)) << check(*more).error().context;
  ASSERT_EQ(more->blocks.size(), plain.blocks.size() + 2);
  const auto& attention = more->blocks[plain.blocks.size()];
  EXPECT_EQ(attention.name, "attention");
  EXPECT_EQ(attention.merge, merge_rule{});
  EXPECT_EQ(attention.weight, weight_rule::one);
  EXPECT_EQ(attention.rank, 0u);
  EXPECT_EQ(more->legs[0].fetch.back().family, "attention");
  EXPECT_EQ(more->blocks.back().where, scope::personal);
  EXPECT_EQ(formula_of(*more, pace_kind::fedbuff),
            "x + r·Σ(w·s·d) / Σ(w), w the norm of what a client adds, d = -x "
            "in ranks that a client lacks; of 'attention' x + r·Σ(1·s·d) / "
            "Σ(1)");
}

TEST(with_options, are_held_to_what_a_flag_adds) {
  auto method = *find_recipe("hetlora");
  const auto why = [&] {
    const auto found = check(method);
    return found ? "" : found.error().context;
  };
  method.more.blocks.back().name = "adapter";
  EXPECT_EQ(why(), "recipe 'hetlora': two blocks are named 'adapter', or one "
                   "has no name; each needs one of its own");
  method.more.flag = "penalty";
  EXPECT_EQ(why(), "recipe 'hetlora': it has more blocks by 'penalty'; a flag "
                   "that is off by default would do");
}

TEST(with_often, holds_for_every_method_whose_clients_all_do_the_same) {
  for (const auto& method : catalogue())
    if (method.roles.size() == 1) {
      const auto x = with_often(method, 3, 2);
      ASSERT_TRUE(x) << method.name;
      EXPECT_TRUE(check(*x)) << check(*x).error().context;
    }
}

TEST(with_often, refuses_what_has_roles_of_its_own) {
  const auto found = with_often(gated(), 3, 2);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().context,
            "method 'gated' has roles of its own: 'clients.often' must be 0 "
            "(option 'anchors' would do)");
  auto fixed = gated();
  fixed.roles[0].members_option.clear();
  EXPECT_EQ(with_often(fixed, 3, 2).error().context,
            "method 'gated' has roles of its own: 'clients.often' must be 0");
  EXPECT_TRUE(with_often(settled({{"anchors", 0}}), 3, 2))
    << "they are gone with their members";
}

TEST(check_recipe, accepts_numbers_that_options_say) {
  EXPECT_EQ(complaint([](recipe&) {}), "");
}

TEST(check_recipe, finds_numbers_that_do_not_fit) {
  struct broken {
    void (*change)(recipe&);
    const char* said;
  };
  const broken all[]{
    {[](recipe& x) { x.legs[1].fetch[0].chosen_max = 6; },
     "leg 2 fetches 'model', at most 6 of 5; 1 to 5, or 0 for all, would do"},
    {[](recipe& x) { x.legs[0].fetch[1].chosen_max = 1; },
     "leg 1 fetches 'gate', all of it, and has a bound on what is chosen"},
    {[](recipe& x) { x.legs[1].fetch[0].chosen_option = "many"; },
     "leg 2 fetches 'model': its bound of 2 is said by option 'many', which is "
     "missing"},
    {[](recipe& x) { x.roles[0].quota = 4; },
     "role 'anchor': its quota of 4 is said by option 'per_round'"},
    {[](recipe& x) { x.roles[0].members_option = "experts_of"; },
     "role 'anchor': its number of members of 5 is said by option "
     "'experts_of'"},
    {[](recipe& x) { x.disclosures[0].chosen_of = "gate"; },
     "disclosure 'request' lists instances of 'gate', which is no expert "
     "family"},
    {[](recipe& x) { x.disclosures[0].max = 5; },
     "disclosure 'request' lists instances of 'model'; up to 5 numbers from 0 "
     "to 4, and no sum, would do"},
    {[](recipe& x) { x.disclosures[0].sum = 1; }, "and no sum, would do"},
  };
  for (const auto& [change, said] : all)
    EXPECT_NE(complaint(change).find(said), std::string::npos)
      << "expected: " << said << "\nfound: " << complaint(change);
}

} // namespace troupe::policies::recipe_options_test
