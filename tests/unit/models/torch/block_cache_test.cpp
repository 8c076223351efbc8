#include "models/torch/block_cache.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
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

at::Tensor of_bytes(std::int64_t n) {
  return at::empty({n}, at::kByte);
}

long faults() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_minflt;
}

/// Bytes of addresses that this process has.
std::uint64_t addresses() {
  std::ifstream in{"/proc/self/statm"};
  std::uint64_t pages = 0;
  in >> pages;
  return pages * static_cast<std::uint64_t>(getpagesize());
}

/// From here on it may have so many more of them.
class little_room {
public:
  explicit little_room(std::uint64_t more) {
    getrlimit(RLIMIT_AS, &before_);
    auto now = before_;
    now.rlim_cur = addresses() + more;
    EXPECT_EQ(setrlimit(RLIMIT_AS, &now), 0);
  }

  ~little_room() {
    setrlimit(RLIMIT_AS, &before_);
  }

  little_room(const little_room&) = delete;
  little_room& operator=(const little_room&) = delete;

private:
  rlimit before_{};
};

TEST_F(block_cache, gives_the_memory_of_a_tensor_to_the_next_of_its_size) {
  const void* first = of_bytes(1'234'567).data_ptr();
  const auto before = facts_of_block_cache();
  const auto again = of_bytes(1'234'567);
  EXPECT_EQ(again.data_ptr(), first);
  EXPECT_EQ(facts_of_block_cache().reused, before.reused + 1);
  EXPECT_LT(facts_of_block_cache().kept_bytes, before.kept_bytes);
  EXPECT_NE(of_bytes(1'234'567).data_ptr(), first) << "somebody has it";
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
    of_bytes((std::int64_t{500} << 20) + i * 4096);
    EXPECT_LE(facts_of_block_cache().kept_bytes, block_cache_most);
  }
  of_bytes(static_cast<std::int64_t>(block_cache_most) + 1);
  EXPECT_LE(facts_of_block_cache().kept_bytes, block_cache_most);
  of_bytes(1 << 20);
  const auto before = facts_of_block_cache().reused;
  of_bytes(1 << 20);
  EXPECT_EQ(facts_of_block_cache().reused, before + 1) << "of today's sizes";
}

// Nobody touches these either.
TEST_F(block_cache, is_given_back_where_the_system_has_no_memory) {
  constexpr std::int64_t mib = 1 << 20;
  of_bytes(600 * mib);
  ASSERT_GE(facts_of_block_cache().kept_bytes,
            static_cast<std::uint64_t>(600 * mib));
  const little_room now{100 * mib};
  EXPECT_NO_THROW(of_bytes(650 * mib)) << "what is kept is in its place";
  EXPECT_ANY_THROW(of_bytes(std::int64_t{1} << 50));
  EXPECT_EQ(facts_of_block_cache().kept_bytes, 0u);
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
