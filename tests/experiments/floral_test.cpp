// FLoRAL's synthetic tasks at their length: 2,000 rounds. TROUPE_SEEDS says how
// many draws, without it 5 of the linear task and 1 of the other.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/support/small_runs.hpp"

namespace troupe::test::floral_test {

namespace {

struct outcome {
  double error = 0; ///< The median over draws.
  int recovered = 0;
};

class floral_at_length : public ::testing::Test {
protected:
  outcome of(const std::string& example, const std::string& method,
             int seeds) const {
    std::ifstream file{std::string{TROUPE_SOURCE_DIR}
                       + "/deploy/examples/floral/" + example};
    std::ostringstream text;
    text << file.rdbuf();
    std::vector<double> errors;
    outcome out;
    for (int seed = 1; seed <= seeds; ++seed) {
      const auto end = finished(
        configured(text.str(),
                   {"method=" + method, "seed=" + std::to_string(seed),
                    "events=false", "ledger=memory", "evaluate_every=2000"},
                   scratch_.path()));
      errors.push_back(end.method_results.at("test_mse"));
      const auto found = end.method_results.find("recovered");
      out.recovered += found != end.method_results.end() && found->second == 1;
    }
    std::ranges::sort(errors);
    out.error = errors[errors.size() / 2];
    RecordProperty(method, std::to_string(out.error));
    return out;
  }

private:
  scratch_folder scratch_;
};

int draws(int without) {
  const auto* said = std::getenv("TROUPE_SEEDS");
  return said ? std::max(1, std::atoi(said)) : without;
}

} // namespace

TEST_F(floral_at_length, the_linear_task_is_solved_by_mixtures_and_ensembles) {
  const auto n = draws(5);
  const auto floral = of("synthetic_linear.toml", "floral", n);
  EXPECT_LT(floral.error, 1e-4);
  EXPECT_GE(10 * floral.recovered, 9 * n);
  for (const std::string method : {"floral_optimal", "ensemble"})
    EXPECT_LT(of("synthetic_linear.toml", method, n).error, 1e-4) << method;
  for (const std::string method : {"fedavg", "local"})
    EXPECT_GT(of("synthetic_linear.toml", method, n).error, 0.3) << method;
}

TEST_F(floral_at_length, the_mlp_is_learned_where_one_model_is_not_enough) {
  const auto n = std::min(draws(1), 5);
  const auto floral = of("synthetic_mlp.toml", "floral", n);
  EXPECT_LE(floral.error, 0.015);
  EXPECT_EQ(floral.recovered, n);
  EXPECT_GE(of("synthetic_mlp.toml", "fedavg", n).error, 0.25);
  if (n > 1) { // A private adapter has too little data.
    EXPECT_GT(of("synthetic_mlp.toml", "local_adaptor", n).error,
              2 * floral.error);
  }
}

} // namespace troupe::test::floral_test
