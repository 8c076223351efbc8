#include <gtest/gtest.h>

#include "tests/support/any_model.hpp"
#include "tests/support/small_runs.hpp"
#include "tests/support/socket_pair.hpp"

// Whether messages pass in memory or over sockets, the same is learned.

namespace troupe::test {
namespace {

class socket_run : public ::testing::TestWithParam<std::size_t> {
protected:
  node::run_summary go(const std::string& method, bool over_sockets) {
    const auto x =
      configured(quadratic_run,
                 of_method(method, {"clock=wall", "dimension=200", "rounds=3"}),
                 scratch_.path());
    if (!over_sockets)
      return finished(x);
    const socket_pair between{GetParam()};
    const auto done = node::run(x, {.make_model = no_model,
                                    .server_side = between.server,
                                    .client_side = between.clients});
    EXPECT_TRUE(done) << (done ? "" : done.error().context);
    EXPECT_GT(between.listener->counts().bytes_in, 0U);
    EXPECT_EQ(between.listener->counts().pieces_malformed, 0U);
    EXPECT_EQ(between.dialler->counts().pieces_malformed, 0U);
    return done ? *done : node::run_summary{};
  }

  scratch_folder scratch_;
};

TEST_P(socket_run, has_the_digest_of_one_in_memory_under_each_method) {
  for (const auto& method : methods_of_any_model()) {
    const auto wanted = go(method.name, false);
    const auto found = go(method.name, true);
    EXPECT_FALSE(found.failed) << method.name << ": " << found.reason;
    EXPECT_EQ(found.digest, wanted.digest) << method.name;
    EXPECT_EQ(found.bytes_up, wanted.bytes_up) << method.name;
  }
}

INSTANTIATE_TEST_SUITE_P(chunks, socket_run, ::testing::Values(64, 256 << 10));

} // namespace
} // namespace troupe::test
