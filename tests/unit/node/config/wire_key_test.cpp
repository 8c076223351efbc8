// As what values are sent.

#include <gmock/gmock.h>

#include "tests/support/config_text.hpp"

namespace troupe::node {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

} // namespace

TEST(wire_key, is_read_and_written_where_it_is_said) {
  const auto x = read("rounds = 1\n[merge]\nwire = 'bf16'\n");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->x.merge.wire, sent_as::bf16);
  const auto again = read(write_config(x->x));
  ASSERT_TRUE(again) << again.error().context;
  EXPECT_TRUE(same(again->x, x->x));
  EXPECT_EQ(again->x.merge.wire, sent_as::bf16);
  // Who joins with an earlier build is told of no key that it does not know.
  EXPECT_THAT(write_config(read("rounds = 1")->x), Not(HasSubstr("wire =")));
  EXPECT_EQ(refusal("rounds = 1\nwire = 'f16'"),
            "a.toml:2: 'wire' must be \"f32\" or \"bf16\", found \"f16\"");
}

TEST(wire_key, is_for_what_is_averaged) {
  const auto built =
    parse_config({"method = 'scaffold'\nrounds = 1\nwire = 'bf16'", "a.toml"});
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().context,
            "a.toml:3: wire = \"bf16\" is for what is averaged, and method "
            "'scaffold' does not average 'control': \"f32\" would do");
  EXPECT_EQ(refusal("rounds = 1\n[merge]\nwire = 'bf16'\nrule = 'median'"),
            "a.toml:3: wire = \"bf16\" is for what is averaged: rule = "
            "\"mean\", or \"f32\", would do");
  EXPECT_EQ(refusal("method = 'local'\nrounds = 1\nwire = 'bf16'"),
            "a.toml:3: wire = \"bf16\" is for what is averaged, and method "
            "'local' merges nothing: \"f32\" would do");
}

} // namespace troupe::node
