// Each allocation of a visit fails, as the n-th: nothing ends but visits. This
// stands in a program of its own, since it replaces `operator new`.

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "models/embedder.hpp"
#include "tests/support/every_method.hpp"
#include "tests/support/same_visits.hpp"

namespace {

constexpr auto never = std::numeric_limits<long>::max();

thread_local long left = never; // Until one fails.
thread_local bool for_good = false;

void* allocated(std::size_t size, std::size_t alignment) {
  if (left != never && left-- <= 0) {
    if (!for_good)
      left = never;
    throw std::bad_alloc{};
  }
  const auto rounded = (size + alignment) / alignment * alignment;
  if (auto* at = std::aligned_alloc(alignment, rounded))
    return at;
  throw std::bad_alloc{};
}

/// Whether one failed.
template <class Call>
bool fails(long n, bool good, Call call) {
  left = n;
  for_good = good;
  try {
    call();
  } catch (const std::bad_alloc&) {
    // That is an error where a trainer is guarded.
  }
  const bool failed = left == never || left < 0;
  left = never;
  return failed;
}

} // namespace

void* operator new(std::size_t size) {
  return allocated(size, alignof(std::max_align_t));
}

void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocated(size, static_cast<std::size_t>(alignment));
}

void operator delete(void* x) noexcept {
  std::free(x);
}

void operator delete(void* x, std::size_t) noexcept {
  std::free(x);
}

void operator delete(void* x, std::align_val_t) noexcept {
  std::free(x);
}

void operator delete(void* x, std::size_t, std::align_val_t) noexcept {
  std::free(x);
}

namespace troupe::test {

namespace {

quadratic_setting setting_of(const std::string& method, std::size_t in_step) {
  auto x = noisy_setting(method, 1, {8, 8, 3});
  x.in_step = in_step;
  return x;
}

class without_memory : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(all, without_memory, testing::ValuesIn(all_methods()),
                         [](const auto& x) { return x.param; });

} // namespace

TEST_P(without_memory, a_visit_fails_and_the_next_one_does_not_notice) {
  for (const std::size_t k : {1, 3}) {
    quadratic_federation sound{setting_of(GetParam(), k)};
    auto visits = next_visits(sound);
    visits.resize(k);
    const auto expected = sound.trainer().train(visits);
    for (const bool good : {false, true}) {
      for (long n = 0;; ++n) {
        SCOPED_TRACE(n);
        // A trainer that is fresh: it has kept no room for visits.
        quadratic_federation testee{setting_of(GetParam(), k)};
        auto& by = testee.trainer();
        const bool failed = fails(n, good, [&] { by.train(visits); });
        expect_same(by.train(visits), expected);
        ASSERT_FALSE(HasFailure());
        if (!failed)
          break;
      }
    }
  }
}

TEST_P(without_memory, scores_and_choices_fail_and_visits_do_not_notice) {
  quadratic_federation sound{setting_of(GetParam(), 1)};
  const auto visits = next_visits(sound);
  const models::evaluation_input x{
    .versions = visits[0].fetched, .per_client = true, .states = {}};
  const auto expected = sound.trainer().train(visits);
  for (long n = 0;; ++n) {
    quadratic_federation testee{setting_of(GetParam(), 1)};
    auto& by = testee.trainer();
    const bool failed = fails(n, false, [&] {
      (void)by.choose(visits[0]);
      (void)by.evaluate(x);
    });
    expect_same(by.train(visits), expected);
    ASSERT_FALSE(HasFailure());
    if (!failed)
      break;
  }
}

// Who asks next would wait for a row that nobody makes.
TEST(embedding_table, leaves_no_row_under_way_where_memory_ends) {
  const std::vector<std::uint32_t> rows{4, 1, 3};
  const std::vector<float> expected{4, 1, 3};
  const auto make = [](std::uint32_t row, std::span<float> out) {
    out[0] = static_cast<float>(row);
    return result<void>{};
  };
  std::vector<float> out(3);
  for (long n = 0;; ++n) {
    SCOPED_TRACE(n);
    models::embedding_table testee;
    const bool failed = fails(n, false, [&] {
      (void)testee.take(models::split::train, rows, 1, out, make);
    });
    ASSERT_TRUE(testee.take(models::split::train, rows, 1, out, make));
    ASSERT_EQ(out, expected);
    if (!failed)
      break;
  }
}

} // namespace troupe::test
