// What a run must be to be served.

#include "node/run/serving.hpp"

#include <memory>
#include <string>

#include <gmock/gmock.h>

#include "actors/messages/terms.hpp"
#include "actors/transport/envelope.hpp"
#include "core/limits.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {
namespace {

/// What is said of a run whose one offer has so many values, or a few more;
/// empty: it is served.
std::string refusal_of(std::uint64_t values) {
  const auto x = configured(quadratic_run, {"clock=wall"}, {});
  auto work = node::prepare(x, no_model);
  if (!work) {
    ADD_FAILURE() << work.error().context;
    return {};
  }
  auto blocks = *work->blocks;
  blocks.blocks.front().size = values;
  work->blocks = std::make_shared<const models::layout>(std::move(blocks));
  const auto testee = node::serving::open(
    {.address = "tcp://127.0.0.1:*", .insecure = true}, x, *work);
  if (testee)
    return {};
  EXPECT_EQ(testee.error().code, errc::unsupported);
  return testee.error().context;
}

} // namespace

// A store says in 32 bits how large an offer is that it keeps.
TEST(serving, refuses_a_run_whose_offers_may_be_beyond_4_gib) {
  constexpr std::uint64_t values = std::uint64_t{1} << 30;
  EXPECT_EQ(refusal_of(values - (1 << 15)), "") << "128 KiB below";
  const auto said = refusal_of(values);
  EXPECT_THAT(said, ::testing::HasSubstr("an offer of this run may have 4295"));
  EXPECT_THAT(said,
              ::testing::HasSubstr("has 4 GiB at most; troupe run would"));
}

// They are given before a process knows its run's blocks.
TEST(serving, lets_as_many_places_be_given_as_a_run_may_have_clients) {
  messages::places_given all;
  all.clients.resize(limits::clients_max);
  EXPECT_LE(transport::encoded_size(all),
            node::bytes_max_before_terms(messages::places_given::wire.kind));
  EXPECT_EQ(node::bytes_max_before_terms(messages::terms_given::wire.kind),
            std::uint64_t{1} << 20);
}

} // namespace troupe::test
