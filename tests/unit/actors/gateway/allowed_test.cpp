// What a visit may fetch of what its recipe lets it choose, and say of it, as
// the server holds against it.

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/gateway/grants.hpp"

namespace troupe::test::allowed_test {

namespace {

using actors::grants;
using policies::verdict;
using standing = grants::standing;
using lines = std::vector<std::uint64_t>;
using request = std::vector<double>;

/// As DDOME has it: a gate is line 1, five experts with buffers are lines 2 to
/// 6, of which a client has two. Clients 1 to 5 are anchors.
recipe gate_and_experts() {
  const auto some = [](std::string family) {
    return fetch_spec{
      .family = std::move(family), .chosen = true, .chosen_max = 2};
  };
  return {.name = "asked",
          .summary = "",
          .blocks = {{.name = "gate"},
                     {.name = "model",
                      .where = scope::expert,
                      .count = 5,
                      .group = "model"},
                     {.name = "model.buffers",
                      .where = scope::expert,
                      .count = 5,
                      .group = "model"}},
          .legs = {{.fetch = {{.family = "gate"}}, .choice = {"best"}},
                   {.fetch = {some("model"), some("model.buffers")}}},
          .roles =
            {{.name = "anchor", .quota = 1, .choice_fixed = true, .members = 5},
             {.name = "common"}},
          .disclosures = {{.name = "request",
                           .count_max = 2,
                           .min = 0,
                           .max = 4,
                           .chosen_of = "model"}}};
}

constexpr std::uint32_t anchor = 0;
constexpr std::uint32_t common = 1;

class allowed_choices : public testing::Test {
protected:
  allowed_choices()
    : blocks(*models::make_layout(method,
                                  {{"gate", {{"w", {2}}}},
                                   {"model", {{"w", {2}}}},
                                   {"model.buffers", {{"m", {1}}}}},
                                  {})),
      testee(method, blocks) {
    testee.invited({ann, {1}});
    testee.invited({bob, {1}});
  }

  /// None: it is served.
  std::optional<verdict> fetch(client_id who, std::uint32_t role,
                               std::uint32_t leg, const lines& wanted) {
    messages::fetch_requested x{.pass = {}, .leg = leg, .wanted = {}};
    x.pass.visit = {who, {1}};
    x.pass.role = role;
    for (const auto line : wanted)
      x.wanted.push_back({.line = {line}});
    const auto found = testee.fetch(x, std::chrono::hours{1});
    if (found && found->why == verdict::malformed) {
      EXPECT_TRUE(found->ends);
    }
    return found ? std::optional{found->why} : std::nullopt;
  }

  /// To the gate and to what it was served of experts.
  auto offer(client_id who, std::uint32_t role, const lines& to,
             std::optional<request> said) {
    messages::offer_made x;
    x.pass.visit = {who, {1}};
    x.pass.role = role;
    for (const auto line : to)
      for (const auto block : blocks.find(line_id{line})->blocks)
        x.blocks.emplace_back().block = block;
    if (said)
      x.disclosures = {{.index = 0, .values = std::move(*said)}};
    return testee.offer(x);
  }

  const recipe method = gate_and_experts();
  const models::layout blocks;
  const client_id ann{3}; ///< An anchor: expert 2 is hers, on line 4.
  const client_id bob{8};
  grants testee;
};

} // namespace

TEST_F(allowed_choices, come_after_their_leg) {
  EXPECT_EQ(fetch(bob, common, 1, {2, 3}), verdict::malformed);
  EXPECT_EQ(fetch(bob, common, 0, {1}), std::nullopt);
  EXPECT_EQ(fetch(bob, common, 1, {2, 3}), std::nullopt);
  EXPECT_EQ(fetch(bob, common, 2, {}), verdict::malformed);
}

TEST_F(allowed_choices, are_as_many_as_the_recipe_says_however_often_asked) {
  ASSERT_EQ(fetch(bob, common, 0, {1}), std::nullopt);
  EXPECT_EQ(fetch(bob, common, 1, {2, 3, 4}), verdict::malformed);
  EXPECT_EQ(fetch(bob, common, 1, {5}), std::nullopt);
  EXPECT_EQ(fetch(bob, common, 1, {2}), std::nullopt);
  EXPECT_EQ(fetch(bob, common, 1, {2, 5}), std::nullopt) << "said again";
  EXPECT_EQ(fetch(bob, common, 1, {3}), verdict::malformed);
}

TEST_F(allowed_choices, are_not_none_and_not_of_another_family) {
  ASSERT_EQ(fetch(bob, common, 0, {1}), std::nullopt);
  EXPECT_EQ(fetch(bob, common, 1, {}), verdict::malformed);
  EXPECT_EQ(fetch(bob, common, 1, {1}), verdict::malformed);
  EXPECT_EQ(fetch(bob, common, 1, {7}), verdict::malformed);
  EXPECT_EQ(fetch(bob, common, 1, {3, 3}), verdict::malformed);
}

TEST_F(allowed_choices, of_an_anchor_are_its_own_expert) {
  ASSERT_EQ(fetch(ann, anchor, 0, {1}), std::nullopt);
  EXPECT_EQ(fetch(ann, anchor, 1, {3}), verdict::malformed);
  EXPECT_EQ(fetch(ann, anchor, 1, {3, 4}), verdict::malformed);
  EXPECT_EQ(fetch(ann, anchor, 1, {4}), std::nullopt);
  EXPECT_EQ(fetch(ann, anchor, 1, {4}), std::nullopt);
  EXPECT_EQ(fetch(ann, anchor, 1, {5}), verdict::malformed);
}

// What it was served is forgotten; what it may have is not, nor what it is
// served from then on.
TEST_F(allowed_choices, hold_for_visits_from_before_a_restart) {
  grants anew{method, blocks};
  testee = anew;
  EXPECT_EQ(fetch(bob, common, 1, {2, 3}), std::nullopt);
  EXPECT_EQ(fetch(bob, common, 1, {2, 3, 4}), verdict::malformed);
  EXPECT_EQ(fetch(bob, common, 1, {2, 3}), std::nullopt) << "said again";
  EXPECT_EQ(fetch(bob, common, 1, {4, 5}), verdict::malformed);
  EXPECT_EQ(fetch(ann, anchor, 1, {3}), verdict::malformed);
  EXPECT_EQ(fetch(ann, anchor, 1, {}), verdict::malformed);
  EXPECT_EQ(fetch(ann, anchor, 1, {4}), std::nullopt);
}

// Nor may it offer further, or say of its request what its offer is not.
TEST_F(allowed_choices, hold_for_offers_from_before_a_restart) {
  grants anew{method, blocks};
  testee = anew;
  const auto is_refused = [&](client_id who, std::uint32_t role,
                              std::vector<std::uint64_t> to,
                              std::optional<request> said) {
    const auto found = offer(who, role, std::move(to), std::move(said));
    return !found && found.error() == verdict::malformed;
  };
  EXPECT_TRUE(is_refused(bob, common, {1, 2}, std::nullopt));
  EXPECT_TRUE(is_refused(bob, common, {1, 2}, request{1}));
  EXPECT_TRUE(is_refused(bob, common, {1, 2, 3, 4}, request{0, 1, 2}));
  EXPECT_TRUE(is_refused(ann, anchor, {1, 3}, std::nullopt));
  EXPECT_TRUE(is_refused(ann, anchor, {1, 4}, request{2}));
  ASSERT_EQ(fetch(bob, common, 1, {5}), std::nullopt);
  EXPECT_TRUE(is_refused(bob, common, {1, 2}, request{0, 1}))
    << "it was served another";
  EXPECT_EQ(offer(bob, common, {1, 2}, request{3, 0}).value(), standing::first);
  EXPECT_EQ(offer(ann, anchor, {1, 4}, std::nullopt).value(), standing::first);
}

TEST_F(allowed_choices, are_what_a_visit_discloses_as_its_request) {
  ASSERT_EQ(fetch(bob, common, 0, {1}), std::nullopt);
  ASSERT_EQ(fetch(bob, common, 1, {2, 5}), std::nullopt);
  const auto refused = [&](std::optional<request> said) {
    const auto found = offer(bob, common, {1, 2, 5}, std::move(said));
    return !found && found.error() == verdict::malformed;
  };
  EXPECT_TRUE(refused(std::nullopt));
  EXPECT_TRUE(refused(request{}));
  EXPECT_TRUE(refused(request{0}));
  EXPECT_TRUE(refused(request{0, 1}));
  EXPECT_TRUE(refused(request{0, 3, 1}));
  EXPECT_EQ(offer(bob, common, {1, 2, 5}, request{3, 0}).value(),
            standing::first)
    << "best first";
}

TEST_F(allowed_choices, of_who_has_none_are_not_disclosed) {
  ASSERT_EQ(fetch(ann, anchor, 0, {1}), std::nullopt);
  ASSERT_EQ(fetch(ann, anchor, 1, {4}), std::nullopt);
  EXPECT_EQ(offer(ann, anchor, {1, 4}, request{2}).error(), verdict::malformed);
  EXPECT_EQ(offer(ann, anchor, {1, 4}, std::nullopt).value(), standing::first);
}

// An offer to another expert than it has trained is refused as before.
TEST_F(allowed_choices, are_what_a_visit_offers_to) {
  ASSERT_EQ(fetch(bob, common, 0, {1}), std::nullopt);
  ASSERT_EQ(fetch(bob, common, 1, {2, 5}), std::nullopt);
  EXPECT_EQ(offer(bob, common, {1, 3}, request{0, 3}).error(),
            verdict::malformed);
}

} // namespace troupe::test::allowed_test
