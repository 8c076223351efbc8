#include "models/methods/lines.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "models/own_validation.hpp"
#include "policies/catalogue.hpp"

namespace troupe::test {

TEST(pcl, weighs_by_a_softmax_that_adds_up_to_one) {
  const std::vector<double> ppl{30, 31, 1e250};
  const auto found = models::softmax_of_less(ppl);
  EXPECT_NEAR(found[0], 1 / (1 + std::exp(-1)), 1e-12);
  EXPECT_NEAR(found[1], 1 - found[0], 1e-12);
  EXPECT_EQ(found[2], 0);
}

TEST(pcl, looks_at_rows_from_first_to_last) {
  const std::vector<std::uint32_t> rows{2, 4, 6, 8, 10, 12};
  EXPECT_EQ(models::spread_rows(rows, 0), rows);
  EXPECT_EQ(models::spread_rows(rows, 9), rows);
  EXPECT_EQ(models::spread_rows(rows, 3),
            (std::vector<std::uint32_t>{2, 6, 10}));
}

TEST(pcl, is_refused_before_it_begins_where_somebody_has_nothing_to_look_at) {
  const auto& method = *policies::find_recipe("pcl");
  models::partition clients;
  clients.train = {{1, 2}, {}, {3}};
  clients.own_validation = {{4}, {}, {5}};
  EXPECT_TRUE(models::check_own_validation(method, clients))
    << "who trains on nothing looks at nothing";
  clients.own_validation.pop_back();
  const auto refused = models::check_own_validation(method, clients);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::invalid_config);
  EXPECT_EQ(refused.error().context,
            "method 'pcl' looks at validation rows of each client, and client "
            "3 has none; data that sets some aside would do");
  EXPECT_EQ(models::check_own_validation(method, clients, {"", "", "user 'it'"})
              .error()
              .context,
            "method 'pcl' looks at validation rows of each client, and client "
            "3 (user 'it') has none; data that sets some aside would do");
  EXPECT_TRUE(
    models::check_own_validation(*policies::find_recipe("fedavg"), clients));
}

} // namespace troupe::test
