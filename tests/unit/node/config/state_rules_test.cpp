// What would change an offer after the client's own state was made for it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/config/config.hpp"

namespace troupe::test {

using ::testing::HasSubstr;

TEST(scaffold, takes_no_key_that_changes_what_was_offered) {
  const auto refusal = [](const std::string& more) {
    const auto text = "method = 'scaffold'\nrounds = 3\n" + more;
    const auto loaded = node::parse_config({text, "a.toml"});
    return loaded ? std::string{"accepted"} : loaded.error().context;
  };
  EXPECT_EQ(refusal(""), "accepted");
  EXPECT_THAT(refusal("clip_norm = 1"),
              HasSubstr("a.toml:3: 'clip_norm' shortens an offer of a client "
                        "after its own state was computed with it: 'method' = "
                        "\"scaffold\" needs 'clip_norm' = 0"));
  EXPECT_THAT(refusal("[attack]\nclients = 1"),
              HasSubstr("a.toml:4: 'attack' multiplies an offer"));
}

} // namespace troupe::test
