#include "models/torch/random.hpp"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <thread>

namespace troupe::models::random_test {

namespace {

struct draw {
  const char* name;
  std::function<at::Tensor()> make;
};

const auto half = [] { return at::full({40}, 0.5); };

const std::vector<draw> draws{
  {"uniform_", [] { return at::empty({40}).uniform_(); }},
  {"normal_", [] { return at::empty({40}).normal_(); }},
  {"cauchy_", [] { return at::empty({40}).cauchy_(); }},
  {"log_normal_", [] { return at::empty({40}).log_normal_(); }},
  {"exponential_", [] { return at::empty({40}).exponential_(); }},
  {"geometric_", [] { return at::empty({40}).geometric_(0.1); }},
  {"bernoulli_.float", [] { return at::empty({40}).bernoulli_(0.5); }},
  {"bernoulli_.Tensor", [] { return at::empty({40}).bernoulli_(half()); }},
  {"bernoulli.out", [] { return at::bernoulli(half()); }},
  {"random_", [] { return at::empty({40}, at::kLong).random_(); }},
  {"random_.to", [] { return at::empty({40}, at::kLong).random_(1000); }},
  {"random_.from", [] { return at::empty({40}, at::kLong).random_(5, 1000); }},
  {"poisson", [] { return at::poisson(half() * 100); }},
  {"binomial", [] { return at::binomial(half() * 100, half()); }},
  {"_standard_gamma", [] { return at::_standard_gamma(half()); }},
  {"_sample_dirichlet", [] { return at::_sample_dirichlet(half()); }},
  {"randperm.generator_out", [] { return at::randperm(40); }},
  {"multinomial", [] { return at::multinomial(half(), 20); }},
  {"multinomial.out",
   [] {
     auto out = at::empty({0}, at::kLong);
     return at::multinomial_out(out, half(), 20);
   }},
  {"rrelu_with_noise", [] { return at::rrelu(-half(), 0.1, 0.9, true); }},
  {"rrelu_with_noise_",
   [] {
     auto x = -half();
     return at::rrelu_(x, 0.1, 0.9, true);
   }},
  {"rrelu_with_noise.out",
   [] {
     auto out = at::empty({40}), noise = at::empty({40});
     return at::rrelu_with_noise_out(out, -half(), noise, 0.1, 0.9, true);
   }},
  {"normal.Tensor_float", [] { return at::normal(half(), 1.0); }},
  {"normal.float_Tensor", [] { return at::normal(0.0, half()); }},
  {"normal.Tensor_Tensor", [] { return at::normal(half(), half()); }},
  {"normal.Tensor_float_out",
   [] {
     auto out = at::empty({40});
     return at::normal_outf(half(), 1.0, {}, out);
   }},
  {"normal.float_Tensor_out",
   [] {
     auto out = at::empty({40});
     return at::normal_out(out, 0.0, half());
   }},
  {"normal.Tensor_Tensor_out",
   [] {
     auto out = at::empty({40});
     return at::normal_out(out, half(), half());
   }},
  {"dropout", [] { return at::dropout(half(), 0.5, true); }},
  {"native_dropout",
   [] { return std::get<0>(at::native_dropout(half(), 0.5, true)); }},
  {"feature_dropout",
   [] {
     return at::feature_dropout(half().view({8, 5}), 0.5, true);
   }},
  {"alpha_dropout", [] { return at::alpha_dropout(half(), 0.5, true); }},
  {"rand", [] { return at::rand({40}); }},
  {"randn", [] { return at::randn({40}); }},
  {"randn_like", [] { return at::randn_like(half()); }},
  {"randint", [] { return at::randint(1000, {40}); }},
};

at::Tensor drawn(const draw& x, std::uint64_t seed) {
  begin_torch_random(seed);
  return x.make().clone();
}

class torch_random : public ::testing::Test {
protected:
  torch_random() {
    own_torch_random();
  }
};

} // namespace

TEST_F(torch_random, is_a_function_of_the_seed_for_each_operator) {
  for (const auto& x : draws) {
    const auto one = drawn(x, 1);
    EXPECT_TRUE(drawn(x, 1).equal(one)) << x.name;
    EXPECT_FALSE(drawn(x, 2).equal(one)) << x.name;
  }
}

TEST_F(torch_random, does_not_depend_on_what_other_threads_draw) {
  for (const auto& x : draws) {
    begin_torch_random(1);
    x.make();
    const auto second = x.make().clone();
    begin_torch_random(1);
    x.make();
    std::thread{[&] {
      begin_torch_random(5);
      x.make();
    }}.join();
    EXPECT_TRUE(x.make().equal(second)) << x.name;
  }
}

TEST_F(torch_random, leaves_a_generator_that_somebody_gives_alone) {
  auto theirs = at::make_generator<at::CPUGeneratorImpl>(3);
  begin_torch_random(1);
  const auto one = at::empty({40}).uniform_(0, 1, theirs);
  theirs.set_current_seed(3);
  begin_torch_random(2);
  EXPECT_TRUE(at::empty({40}).uniform_(0, 1, theirs).equal(one));
}

// The list of what draws is torch's own, so that a new version cannot add an
// operator that goes on drawing from the generator of the process.
TEST_F(torch_random, covers_all_operators_that_draw_on_the_cpu) {
  std::set<std::string> tested;
  for (const auto& x : draws)
    tested.insert(x.name);
  int found = 0;
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const auto& name : dispatcher.getAllOpNames()) {
    const auto handle = dispatcher.findOp(name);
    if (!handle || !handle->hasSchema() || name.name.rfind("aten::", 0) != 0
        || !handle->hasKernelForDispatchKey(c10::DispatchKey::CPU))
      continue;
    const auto& arguments = handle->schema().arguments();
    const bool draws = std::any_of(
      arguments.begin(), arguments.end(), [](const c10::Argument& x) {
        return x.type()->str().find("Generator") != std::string::npos;
      });
    if (!draws)
      continue;
    ++found;
    const auto full =
      name.name.substr(6)
      + (name.overload_name.empty() ? "" : "." + name.overload_name);
    EXPECT_EQ(tested.count(full), 1u) << full;
  }
  EXPECT_GE(found, 28);
}

} // namespace troupe::models::random_test
