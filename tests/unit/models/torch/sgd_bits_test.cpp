// Our fused step in place of torch's optimiser changes no bit of a run.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdlib>
#include <vector>

#include "kernels/backend.hpp"

namespace troupe::kernels {

namespace {

using floats = std::vector<float>;

floats values_of(const torch::Tensor& x) {
  const auto* first = x.data_ptr<float>();
  return {first, first + x.numel()};
}

bool torch_has_fused_multiply_add() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
         && std::getenv("ATEN_CPU_CAPABILITY") == nullptr;
}

} // namespace

TEST(sgd_bits, are_those_of_torch) {
  if (!torch_has_fused_multiply_add())
    GTEST_SKIP() << "torch rounds otherwise without fused multiply-add";
  const auto testee = make_backend({device_kind::cpu}).value();
  // Lengths with and without a tail behind the vectors.
  for (std::int64_t size : {7, 64, 1003})
    for (double momentum : {0.0, 0.9})
      for (double decay : {0.0, 0.01}) {
        torch::manual_seed(1);
        auto theirs = torch::randn({size});
        auto ours = values_of(theirs);
        floats buffer(ours.size());
        torch::optim::SGD optimizer(
          {theirs.set_requires_grad(true)},
          torch::optim::SGDOptions(0.05).momentum(momentum).weight_decay(
            decay));
        for (int i = 0; i < 10; ++i) {
          theirs.mutable_grad() = torch::randn({size});
          auto gradient = values_of(theirs.grad());
          optimizer.step();
          ASSERT_TRUE(testee->step(
            sgd_step{.rate = 0.05f,
                     .momentum = static_cast<float>(momentum),
                     .decay = static_cast<float>(decay),
                     .first = i == 0},
            {.weights = ours, .gradient = gradient, .first_moment = buffer}));
          ASSERT_EQ(ours, values_of(theirs))
            << size << ' ' << momentum << ' ' << decay;
        }
      }
}

} // namespace troupe::kernels
