#include "node/keys/permit.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include <sys/prctl.h>

#include "node/keys/invitation_line.hpp"
#include "node/keys/pair.hpp"
#include "node/keys/private_file.hpp"

namespace troupe::node {
namespace {

TEST(invitation_line, is_one_word) {
  const invitation_line x{"tcp://127.0.0.1:7700", draw_pair().open,
                          draw_pair()};
  const auto text = write_line(x);
  const auto back = read_line(text);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->address, x.address);
  EXPECT_EQ(back->server, x.server);
  EXPECT_EQ(back->own.open, x.own.open);
  EXPECT_FALSE(looks_like_line("tcp://127.0.0.1:7700"));
  for (std::size_t n = 0; n < text.size(); ++n)
    EXPECT_FALSE(read_line(text.substr(0, n)));
}

TEST(permit, says_durations_and_moments) {
  EXPECT_EQ(duration_in("90s"), 90'000);
  EXPECT_EQ(duration_in("30d"), std::int64_t{30} * 86'400'000);
  for (const auto* x : {"", "1", "h", "-1h", "1w", "1 h", "0s", "99999999d"})
    EXPECT_FALSE(duration_in(x)) << x;
  EXPECT_EQ(moment_of(1'764'000'000'000), "2025-11-24T16:00:00Z");
  EXPECT_EQ(moment_of(permit::never), "never");
}

TEST(private_file, keeps_a_process_to_itself) {
  ASSERT_TRUE(keep_to_itself());
  EXPECT_EQ(::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 0);
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

} // namespace
} // namespace troupe::node
