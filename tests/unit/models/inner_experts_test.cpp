// What of a client's state says how many experts it has.

#include <gtest/gtest.h>

#include "models/inner_setup.hpp"

namespace troupe::models::inner_experts_test {

TEST(experts_of, are_known_by_what_a_client_keeps) {
  client_state kept;
  kept.blocks["attention"];
  kept.blocks["left_attention"];
  kept.blocks["router"];
  EXPECT_EQ(experts_kept(kept), 0u);
  kept.blocks["left_generalist"];
  EXPECT_EQ(experts_kept(kept), 1u);
  kept.blocks["specialist.0"];
  kept.blocks["specialist.1"];
  EXPECT_EQ(experts_kept(kept), 3u);
  client_state other; // One of each, and the generalist is its own.
  other.blocks["generalist"];
  other.blocks["specialist"];
  EXPECT_EQ(experts_kept(other), 2u);
}

} // namespace troupe::models::inner_experts_test
