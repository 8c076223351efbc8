// What options of a method that routes tokens say of its routers.

#include "models/routing_for.hpp"

#include <gtest/gtest.h>

#include <string>

#include "policies/catalogue.hpp"

namespace troupe::models::routing_for_test {

namespace {

result<routing_options> routed(const std::string& method, options said = {}) {
  const auto& found = *policies::find_recipe(method);
  return routing_for(found, with_defaults(found, std::move(said)));
}

std::string refused(const std::string& name) {
  const auto found = routed("comigs", {{"gate", 1}, {name, 1}});
  return found ? "taken" : found.error().context;
}

const std::string methods[] = {"comigs", "comigs_2g", "comigs_2s", "pfedmoe"};

} // namespace

TEST(routing_for, says_what_chosen_experts_count) {
  for (const auto& method : methods) {
    EXPECT_FALSE(routed(method)->of_all);
    EXPECT_TRUE(routed(method, {{"top_weights", 1}})->of_all);
  }
  EXPECT_EQ(refused("top_weights"),
            "options.gate = \"noisy\" lets chosen experts count one together, "
            "by maps without biases, which 'top_weights' changes; options.gate "
            "= \"linear\", or no 'top_weights', would do");
}

TEST(routing_for, says_how_routers_begin_and_whether_they_have_a_bias) {
  for (const auto& method : methods) {
    EXPECT_EQ(routed(method)->deviation, 0.02);
    EXPECT_FALSE(routed(method)->bias);
    const auto said =
      routed(method, {{"router_deviation", 0.5}, {"router_bias", 1}});
    EXPECT_EQ(said->deviation, 0.5);
    EXPECT_TRUE(said->bias);
  }
  EXPECT_EQ(refused("router_bias"),
            "options.gate = \"noisy\" lets chosen experts count one together, "
            "by maps without biases, which 'router_bias' changes; options.gate "
            "= \"linear\", or no 'router_bias', would do");
}

TEST(routing_for, says_what_a_balance_is_of) {
  for (const auto& method : methods) {
    const auto usual = routed(method);
    EXPECT_FALSE(usual->balance_on_output || usual->balance_of_kept);
    EXPECT_TRUE(routed(method, {{"balance_of", 1}})->balance_on_output);
    EXPECT_TRUE(routed(method, {{"balance_chances", 1}})->balance_of_kept);
  }
  for (const std::string name : {"balance_of", "balance_chances"})
    EXPECT_EQ(refused(name), "options.gate = \"noisy\" balances by variation, "
                             "where '"
                               + name
                               + "' says nothing; options.gate = \"linear\", "
                                 "or no '"
                               + name + "', would do");
}

} // namespace troupe::models::routing_for_test
