// Clients' own models, made live one after the other in the plain loop.

#include "models/homes.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "kernels/backend.hpp"
#include "tests/support/every_language_method.hpp"
#include "tests/support/routed_federation.hpp"

namespace troupe::test::homes_test {

namespace {

/// A federation after a round, and a model to be each client's.
struct visited {
  explicit visited(const routed_setting& x) : of(x), model(of.make(nullptr)) {
    auto arithmetic = kernels::make_backend({});
    EXPECT_TRUE(arithmetic) << arithmetic.error().context;
    at = std::make_unique<models::local_site>(
      std::make_shared<const models::local_task>(of.task()),
      std::move(*arithmetic));
    of.round();
    there.versions = of.visit(1, 1).fetched;
    for (std::uint64_t k = 1; k <= routed_federation::clients; ++k)
      if (auto state = of.loop().state({k}))
        there.states.emplace(client_id{k}, std::move(state));
  }

  /// What is live at each client's home.
  std::map<client_id, floats> live() {
    std::map<client_id, floats> all;
    enter([&](const models::client_at_home& x) {
      const auto values = model->parameters();
      all.emplace(x.own.visit.client, floats(values.begin(), values.end()));
      return result<void>{};
    });
    return all;
  }

  void enter(
    const std::function<result<void>(const models::client_at_home&)>& then) {
    const auto done = models::for_each_home(there, *at, *model, then);
    EXPECT_TRUE(done) << done.error().context;
  }

  routed_federation of;
  std::unique_ptr<models::objective> model;
  std::unique_ptr<models::local_site> at;
  models::evaluation_input there = {};
};

/// Whether what its clients use has a part that is their own.
bool is_own(const std::string& method) {
  return method == "comigs" || method == "fedavg_lora" || method == "pf2lora";
}

} // namespace

TEST(homes, are_of_each_client_itself) {
  for (const std::string method :
       {"comigs", "fedavg_lora", "pf2lora", "homlora", "fedavg"}) {
    SCOPED_TRACE(method);
    visited testee{language_setting_of(method)};
    const auto found = testee.live();
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found.at({1}) != found.at({2}), is_own(method));
    EXPECT_EQ(found.at({2}) != found.at({3}), is_own(method));
    // Whoever was there before.
    EXPECT_EQ(testee.live(), found);
  }
}

// Of one rank of the others, or of two.
TEST(homes, have_what_is_apart_beside_attention_whole) {
  visited testee{language_setting_of("hetlora", {{"plain_attention", 1},
                                                 {"adapted", 1},
                                                 {"rank_first", 1},
                                                 {"rank_last", 2}})};
  const auto merged = testee.of.loop().values("attention").copy();
  const auto found = testee.live();
  ASSERT_EQ(found.size(), 3u);
  for (const auto& [client, values] : found) {
    ASSERT_GT(values.size(), merged.size());
    const auto end =
      values.begin() + static_cast<std::ptrdiff_t>(merged.size());
    EXPECT_EQ(floats(values.begin(), end), merged) << client.value;
  }
  EXPECT_NE(found.at({1}), found.at({3}));
}

TEST(homes, are_scored_as_clients_are) {
  for (const std::string method : {"comigs", "pf2lora", "fedavg"}) {
    SCOPED_TRACE(method);
    visited testee{language_setting_of(method)};
    auto asked = testee.there;
    asked.per_client = true;
    const auto scored = testee.of.trainer().evaluate(asked);
    ASSERT_TRUE(scored) << scored.error().context;
    testee.enter([&](const models::client_at_home& x) {
      const auto found =
        testee.model->evaluate(models::split::test, x.rows).value();
      EXPECT_EQ(found.loss, scored->per_client.at(x.own.visit.client).loss);
      EXPECT_EQ(x.rows.size(), 3u);
      return result<void>{};
    });
  }
}

TEST(homes, end_with_what_fails_in_one) {
  visited testee{language_setting_of("pf2lora")};
  std::size_t seen = 0;
  const auto done =
    models::for_each_home(testee.there, *testee.at, *testee.model,
                          [&](const models::client_at_home&) -> result<void> {
                            if (++seen < 2)
                              return {};
                            return fail(errc::invalid_data, "the second");
                          });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().context, "the second");
  EXPECT_EQ(seen, 2u);
}

} // namespace troupe::test::homes_test
