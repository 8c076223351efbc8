// What is seen of routers that no burst came to is not what they learned.

#include <gtest/gtest.h>

#include <string>

#include "node/commands/eval_routing.hpp"
#include "policies/catalogue.hpp"

namespace troupe::node::note_on_bursts_test {

namespace {

std::string note(const std::string& method, const options& said,
                 std::uint64_t steps) {
  std::map<client_id, models::token_routes> clients;
  clients[{1}].steps = 1;
  clients[{2}].steps = steps;
  return note_on_bursts(*policies::find_recipe(method), said, clients);
}

} // namespace

TEST(note_on_bursts, says_where_none_was_made) {
  EXPECT_EQ(note("comigs", {{"router_every", 30}}, 29),
            "no router has learned yet: no burst was made "
            "('options.router_every' is 30, and no client has made more than "
            "29 steps of its own)");
  EXPECT_EQ(note("comigs", {{"router_every", 30}}, 30), "");
}

TEST(note_on_bursts, says_where_they_teach_nothing) {
  EXPECT_EQ(note("comigs", {{"router_every", 2}, {"router_steps", 0}}, 8),
            "no router has learned yet: 'options.router_steps' is 0");
  EXPECT_EQ(note("comigs", {{"router_every", 2}, {"router_rate", 0}}, 8),
            "no router has learned yet: 'options.router_rate' is 0");
}

TEST(note_on_bursts, says_nothing_where_routers_have_no_bursts) {
  EXPECT_EQ(note("pfedmoe", {}, 1), "");
}

} // namespace troupe::node::note_on_bursts_test
