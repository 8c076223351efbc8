#include "models/embedder.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "models/tasks/quadratic.hpp"

namespace troupe::models::embedder_test {

namespace {

using rows = std::vector<std::uint32_t>;

constexpr std::size_t width = 2;

/// Row r has r and r + 1/2.
result<void> number(std::uint32_t row, std::span<float> out) {
  out[0] = static_cast<float>(row);
  out[1] = static_cast<float>(row) + 0.5f;
  return {};
}

std::vector<float> numbers_of(const rows& which) {
  std::vector<float> all(which.size() * width);
  for (std::size_t i = 0; i < which.size(); ++i)
    EXPECT_TRUE(number(which[i], std::span{all}.subspan(i * width, width)));
  return all;
}

std::vector<float> taken(embedding_table& from, const rows& which,
                         split part = split::train) {
  std::vector<float> out(which.size() * width);
  const auto done = from.take(part, which, width, out, number);
  EXPECT_TRUE(done) << done.error().context;
  return out;
}

/// Says what it is told to of its second row.
class odd_model : public quadratic {
public:
  explicit odd_model(float says)
    : quadratic(make_quadratic_problem({.dimension = 2, .clients = 4})),
      says_(says) {
    // nop
  }

  result<void> embed(split part, std::uint32_t row,
                     std::span<float> out) override {
    return quadratic::embed(part, row, out).map([&] {
      if (row == 1)
        out[1] = says_;
    });
  }

private:
  float says_;
};

std::string refusal(float says, split part) {
  embedder testee{std::make_unique<odd_model>(says),
                  std::make_shared<embedding_table>()};
  std::vector<float> out(6);
  const auto done = testee.embed(part, rows{0, 1, 2}, out);
  EXPECT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::invalid_data);
  return done.error().context;
}

} // namespace

TEST(embedding_table, makes_each_row_once) {
  embedding_table testee;
  const rows some{3, 1, 3};
  EXPECT_EQ(taken(testee, some), numbers_of(some));
  EXPECT_EQ(testee.made(), 2u);
  const rows more{1, 2, 3};
  EXPECT_EQ(taken(testee, more), numbers_of(more));
  EXPECT_EQ(testee.made(), 3u);
  EXPECT_EQ(testee.kept(), 3u);
  EXPECT_TRUE(taken(testee, {}).empty());
}

TEST(embedding_table, tells_rows_of_the_test_set_from_others) {
  embedding_table testee;
  taken(testee, {1}, split::train);
  taken(testee, {1}, split::test);
  EXPECT_EQ(testee.made(), 2u);
  EXPECT_EQ(testee.kept(), 2u);
}

TEST(embedding_table, makes_each_row_once_for_all_threads) {
  embedding_table testee;
  rows all(500);
  std::iota(all.begin(), all.end(), 0u);
  std::atomic<int> calls = 0;
  const auto counted = [&](std::uint32_t row, std::span<float> out) {
    ++calls;
    return number(row, out);
  };
  std::vector<std::vector<float>> found(4);
  std::vector<std::thread> threads;
  for (auto& out : found)
    threads.emplace_back([&] {
      out.resize(all.size() * width);
      EXPECT_TRUE(testee.take(split::train, all, width, out, counted));
    });
  for (auto& x : threads)
    x.join();
  for (const auto& out : found)
    EXPECT_EQ(out, numbers_of(all));
  EXPECT_EQ(calls.load(), 500);
  EXPECT_EQ(testee.made(), 500u);
}

// Two who wait for each other's rows would wait for ever.
TEST(embedding_table, serves_who_asks_in_another_order) {
  embedding_table testee;
  rows up(200);
  std::iota(up.begin(), up.end(), 0u);
  const rows down(up.rbegin(), up.rend());
  std::thread other{[&] { EXPECT_EQ(taken(testee, down), numbers_of(down)); }};
  EXPECT_EQ(taken(testee, up), numbers_of(up));
  other.join();
  EXPECT_EQ(testee.made(), 200u);
}

TEST(embedding_table, makes_again_what_failed) {
  embedding_table testee;
  const auto broken = [](std::uint32_t row,
                         std::span<float> out) -> result<void> {
    if (row == 2)
      return fail(errc::device_failure, "planted");
    return number(row, out);
  };
  std::vector<float> out(3 * width);
  const auto failed =
    testee.take(split::train, rows{1, 2, 3}, width, out, broken);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().context, "planted");
  EXPECT_EQ(testee.made(), 1u);
  EXPECT_EQ(taken(testee, {1, 2, 3}), numbers_of({1, 2, 3}));
  EXPECT_EQ(testee.made(), 3u);
}

TEST(embedding_table, lets_others_make_what_threw) {
  embedding_table testee;
  std::vector<float> out(width);
  const auto throwing = [](std::uint32_t, std::span<float>) -> result<void> {
    throw std::bad_alloc{};
  };
  EXPECT_THROW((void)testee.take(split::train, rows{7}, width, out, throwing),
               std::bad_alloc);
  EXPECT_EQ(taken(testee, {7}), numbers_of({7}));
}

TEST(embedding_table, keeps_no_more_than_there_is_room_for) {
  embedding_table testee{2 * width * sizeof(float)};
  EXPECT_EQ(taken(testee, {1, 2, 3}), numbers_of({1, 2, 3}));
  EXPECT_EQ(testee.kept(), 2u);
  EXPECT_EQ(taken(testee, {1, 2, 3}), numbers_of({1, 2, 3}));
  EXPECT_EQ(testee.kept(), 2u);
  EXPECT_EQ(testee.made(), 4u) << "the third one again";
  embedding_table none{0};
  EXPECT_EQ(taken(none, {1}), numbers_of({1}));
  EXPECT_EQ(none.kept(), 0u);
}

TEST(embedder, shares_rows_with_others_of_its_process) {
  const auto problem = make_quadratic_problem({.dimension = 2, .clients = 4});
  const auto shared = std::make_shared<embedding_table>();
  embedder one{std::make_unique<quadratic>(problem), shared};
  embedder two{std::make_unique<quadratic>(problem), shared};
  ASSERT_EQ(one.width(), 2u);
  std::vector<float> of_one(4), of_two(4);
  ASSERT_TRUE(one.embed(split::train, rows{0, 3}, of_one));
  ASSERT_TRUE(two.embed(split::train, rows{3, 0}, of_two));
  EXPECT_EQ(shared->made(), 2u);
  EXPECT_EQ(of_one[0], of_two[2]);
  EXPECT_EQ(of_one[3], of_two[1]);
}

TEST(embedder, names_the_row_that_is_not_finite) {
  EXPECT_EQ(refusal(NAN, split::train),
            "the common model's embedding of training row 2 is not finite: "
            "value 2 of 2 is no number; other data, or a common model of "
            "smaller values, would do");
  EXPECT_EQ(refusal(-std::numeric_limits<float>::infinity(), split::test),
            "the common model's embedding of test row 2 is not finite: value 2 "
            "of 2 is infinite; other data, or a common model of smaller "
            "values, would do");
}

// Nobody else may be told that it is here.
TEST(embedder, keeps_nothing_that_is_not_finite) {
  const auto shared = std::make_shared<embedding_table>();
  embedder testee{std::make_unique<odd_model>(NAN), shared};
  std::vector<float> out(2);
  EXPECT_FALSE(testee.embed(split::train, rows{1}, out));
  EXPECT_EQ(shared->kept(), 0u);
  EXPECT_FALSE(testee.embed(split::train, rows{1}, out));
}

} // namespace troupe::models::embedder_test
