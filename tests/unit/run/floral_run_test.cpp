// FLoRAL's synthetic linear task, shortened: what must come out, and what must
// not.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

class floral_run : public testing::Test {
protected:
  node::run_summary after(const overrides& changes) {
    std::ifstream file{TROUPE_SOURCE_DIR
                       "/deploy/examples/floral/synthetic_linear.toml"};
    std::ostringstream text;
    text << file.rdbuf();
    overrides all{"evaluate_every=400", "seed=4"};
    if (changes.empty() || !changes.back().starts_with("versions="))
      all.push_back("rounds=400");
    all.insert(all.end(), changes.begin(), changes.end());
    return finished(configured(text.str(), all, scratch_.path()));
  }

  scratch_folder scratch_;
};

double error_of(const node::run_summary& x) {
  return x.method_results.at("test_mse");
}

} // namespace

TEST_F(floral_run, solves_what_one_model_cannot) {
  const auto floral = after({});
  const auto fedavg = after({"method=fedavg"});
  const auto own = after({"method=local_adaptor"});
  EXPECT_LT(error_of(floral), 1e-3);
  EXPECT_LT(error_of(after({"method=floral_optimal"})), 1e-3);
  EXPECT_GT(error_of(fedavg), 0.3);
  EXPECT_GT(error_of(own), 0.1);
  EXPECT_EQ(floral.method_results.at("recovered"), 1);
  EXPECT_LT(floral.method_results.at("router_mismatch"), 0.5);
  // Half of the adaptors that are needed: no better than one model.
  const auto half = after({"components=1"});
  EXPECT_NEAR(error_of(half), error_of(fedavg), 0.05 * error_of(fedavg));
}

TEST_F(floral_run, solves_it_under_every_pace) {
  for (const overrides& pace :
       {overrides{"mode=fedbuff", "buffer_size=10", "versions=400"},
        overrides{"mode=fedasync", "versions=8000"},
        overrides{"mode=semisync", "window_seconds=0.1"}}) {
    const auto end = after(pace);
    EXPECT_LT(error_of(end), 0.05) << pace.front();
    EXPECT_EQ(end.method_results.at("recovered"), 1) << pace.front();
  }
}

// A client's router is its own: only pi travels, beside the offers.
TEST_F(floral_run, sends_as_much_as_its_blocks_are_large) {
  const auto floral = after({});
  const auto fedavg = after({"method=fedavg"});
  // 33 values of the base and twice 16 of adaptors, against 33.
  EXPECT_GT(floral.bytes_up, fedavg.bytes_up);
  EXPECT_LT(floral.bytes_up, 4 * fedavg.bytes_up);
}

} // namespace troupe::test
