#include "models/torch/threads.hpp"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>

#include <dlfcn.h>

#include <thread>

namespace troupe::models {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(threads, are_one_in_whichever_thread_asks_for_it) {
  use_one_thread_per_worker();
  EXPECT_EQ(at::get_num_threads(), 1);
  int elsewhere = 0;
  std::thread{[&] {
    use_one_thread_per_worker();
    elsewhere = at::get_num_threads();
  }}.join();
  EXPECT_EQ(elsewhere, 1);
}

TEST(threads, of_openblas_are_one_without_a_word_of_the_user) {
  auto* count = reinterpret_cast<int (*)()>(
    dlsym(RTLD_DEFAULT, "openblas_get_num_threads"));
  if (!count)
    GTEST_SKIP() << "another BLAS: " << description();
  use_one_thread_per_worker();
  EXPECT_EQ(count(), 1);
}

TEST(description, names_torch_and_its_libraries) {
  EXPECT_THAT(description(), HasSubstr("torch "));
  EXPECT_THAT(description(), HasSubstr("CUDA"));
  EXPECT_THAT(description(), Not(HasSubstr("unknown")));
}

TEST(fingerprint, names_processor_and_libraries) {
  EXPECT_THAT(fingerprint(), HasSubstr("cpu "));
  EXPECT_THAT(fingerprint(), HasSubstr("; blas "));
  EXPECT_THAT(fingerprint(), Not(HasSubstr("unknown")));
  EXPECT_EQ(fingerprint(), fingerprint());
}

} // namespace

} // namespace troupe::models
