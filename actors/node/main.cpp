#include <iostream>

#include "actors/node/command.hpp"
#include "models/torch/threads.hpp"

int main(int argc, char** argv) {
  // Before anything computes: BLAS reads this once.
  troupe::models::use_one_thread_per_worker();
  const std::vector<std::string> args(argv + 1, argv + argc);
  const auto all = troupe::node::basic_commands(
    {.arithmetic = troupe::models::description,
     .fingerprint = troupe::models::fingerprint});
  return static_cast<int>(troupe::node::dispatch(all, args, {std::cout, std::cerr}));
}
