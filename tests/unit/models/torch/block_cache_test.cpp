#include "models/torch/block_cache.hpp"

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>

#include <sys/resource.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace troupe::models {
namespace {

class block_cache : public testing::Test {
protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "addresses are watched: nothing is kept";
#endif
    keep_blocks_of_tensors();
  }
};

constexpr auto more_than_there_is = std::int64_t{1} << 60;

at::Tensor of_bytes(std::int64_t n) {
  return at::empty({n}, at::kByte);
}

long faults() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_minflt;
}

TEST_F(block_cache, gives_the_memory_of_a_tensor_to_the_next_of_its_size) {
  const void* first = of_bytes(1'234'567).data_ptr();
  const auto before = facts_of_block_cache();
  const auto again = of_bytes(1'234'567);
  EXPECT_EQ(again.data_ptr(), first);
  EXPECT_EQ(facts_of_block_cache().reused, before.reused + 1);
  EXPECT_LT(facts_of_block_cache().kept_bytes, before.kept_bytes);
  EXPECT_NE(of_bytes(1'234'567).data_ptr(), first) << "somebody has it";
}

// As many tokens as go to an expert, which is another number in each step.
TEST_F(block_cache, keeps_no_block_of_each_size_that_there_was) {
  constexpr std::int64_t most = 24 << 20;
  (void)of_bytes(most);
  const auto before = facts_of_block_cache();
  for (std::int64_t i = 0; i < 100; ++i)
    (void)of_bytes(most - i * 20'000);
  const auto after = facts_of_block_cache();
  EXPECT_EQ(after.kept_bytes, before.kept_bytes);
  EXPECT_EQ(after.reused, before.reused + 100);
}

TEST_F(block_cache, gives_no_large_block_to_a_small_tensor) {
  const void* large = of_bytes(96 << 20).data_ptr();
  EXPECT_NE(of_bytes(63 << 20).data_ptr(), large);
  EXPECT_EQ(of_bytes(65 << 20).data_ptr(), large);
}

TEST_F(block_cache, begins_where_vectors_do) {
  for (const std::int64_t n : {1, 63, 64, 65'536, 1'000'003})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(of_bytes(n).data_ptr()) % 64, 0u)
      << n;
  EXPECT_EQ(of_bytes(0).numel(), 0);
}

TEST_F(block_cache, enters_no_page_twice) {
  constexpr std::int64_t bytes = 64 << 20;
  of_bytes(bytes).zero_();
  const auto before = faults();
  for (int i = 0; i < 10; ++i)
    of_bytes(bytes).zero_();
  EXPECT_LT(faults() - before, bytes / 4096) << "each is entered anew";
}

// Nobody touches these: they cost no memory.
TEST_F(block_cache, keeps_no_more_than_its_bound) {
  for (std::int64_t i = 0; i < 8; ++i) {
    of_bytes((500 + 64 * i) << 20);
    EXPECT_LE(facts_of_block_cache().kept_bytes, block_cache_most);
  }
  of_bytes(static_cast<std::int64_t>(block_cache_most) + 1);
  EXPECT_LE(facts_of_block_cache().kept_bytes, block_cache_most);
  of_bytes(1 << 20);
  const auto before = facts_of_block_cache().reused;
  of_bytes(1 << 20);
  EXPECT_EQ(facts_of_block_cache().reused, before + 1) << "of today's sizes";
}

TEST_F(block_cache, gives_back_what_it_keeps_where_memory_is_short) {
  of_bytes(1 << 20);
  ASSERT_GE(facts_of_block_cache().kept_bytes, 1u << 20);
  EXPECT_THROW(of_bytes(more_than_there_is), c10::Error);
  EXPECT_EQ(facts_of_block_cache().kept_bytes, 0u);
  of_bytes(1 << 20);
  const auto before = facts_of_block_cache().reused;
  of_bytes(1 << 20);
  EXPECT_EQ(facts_of_block_cache().reused, before + 1) << "it goes on";
}

// With what stands before each tensor a size may be beyond all numbers.
TEST_F(block_cache, says_how_much_is_not_there) {
  const auto refusal = [](std::size_t bytes) -> std::string {
    try {
      const auto x = c10::GetCPUAllocator()->allocate(bytes);
      return "it is there";
    } catch (const c10::Error& x) {
      return x.what_without_backtrace();
    }
  };
  for (const auto bytes : {static_cast<std::size_t>(more_than_there_is),
                           SIZE_MAX - 200, SIZE_MAX - 63, SIZE_MAX})
    EXPECT_THAT(refusal(bytes),
                testing::HasSubstr("there is no memory for a tensor of "
                                   + std::to_string(bytes) + " bytes"));
}

TEST_F(block_cache, is_of_all_threads) {
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([k] {
      for (int i = 0; i < 200; ++i) {
        const auto x = of_bytes(100'000).fill_(k);
        EXPECT_TRUE(x.eq(k).all().item<bool>()) << "two have one block";
      }
    });
  for (auto& x : threads)
    x.join();
}

} // namespace
} // namespace troupe::models
