#pragma once

// FedProx's experiment on its synthetic data: 30 clients of very different
// sizes, 10 a round, 20 epochs in batches of 10, with and without stragglers.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/data/example_set.hpp"

namespace troupe::test {

struct prox_run {
  const char* procedure = "sgd";
  double proximal = 0;
  double stragglers = 0;
  bool drop = false;
  std::size_t cohort = 10;
  int rounds = 200;
};

/// Train loss, of all examples of all clients together, and test accuracy after
/// each round.
struct curve {
  std::vector<double> loss;
  std::vector<double> accuracy;
};

using shared_data = std::shared_ptr<const models::dataset>;

/// synthetic(spread, spread); each seed is another draw of everything.
shared_data synthetic_data(double spread, std::uint64_t seed);

/// The clients of a round and their seeds are the same for each method.
curve train(const shared_data& data, const prox_run& how);

/// From the best so far to a later value.
double largest_fall(const std::vector<double>& xs);

} // namespace troupe::test
