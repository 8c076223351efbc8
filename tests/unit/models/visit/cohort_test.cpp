// Who leaves a cohort, and when: nobody else notices.

#include "models/visit/cohort.hpp"

#include <algorithm>
#include <functional>
#include <new>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace troupe::models {

namespace {

/// What has come to pass in a cohort.
struct journal {
  std::vector<std::size_t> answered;
  std::vector<std::size_t> resumed;
};

class plain_question final : public question {
public:
  plain_question(cohort& with, std::size_t place, std::size_t rows, journal& in)
    : question(with, place),
      place_(place),
      rows_(rows),
      in_(in) {
    // nop
  }

  shape of() const override {
    return {"plain", 1, rows_};
  }

  result<void> answer() override {
    in_.answered.push_back(place_);
    return {};
  }

  void await_resume() {
    in_.resumed.push_back(place_);
  }

private:
  std::size_t place_;
  std::size_t rows_;
  journal& in_;
};

/// Its group has no memory for what they have in common.
class poor_question final : public question {
public:
  using question::question;

  shape of() const override {
    return {"poor", 1, 1};
  }

  result<void> answer() override {
    return {};
  }

  void answer_all(std::span<question* const>) override {
    throw std::bad_alloc{};
  }

  void await_resume() const noexcept {
    // nop
  }
};

using after_answer = std::function<void(int)>;

task<done> ask(cohort& with, std::size_t place, std::size_t rows, int times,
               journal& in, after_answer after) {
  for (int i = 0; i < times; ++i) {
    plain_question one{with, place, rows, in};
    co_await one;
    if (after)
      after(i);
  }
  co_return {};
}

task<done> ask_poorly(cohort& with, std::size_t place) {
  poor_question one{with, place};
  co_await one;
  co_return {};
}

/// Five that ask the same number of times, of one shape or each of another.
struct five {
  explicit five(bool alike, int who, after_answer after) {
    for (std::size_t i = 0; i < 5; ++i) {
      all[i].emplace(ask(with, i, alike ? 1 : 5 - i, 4, in,
                         static_cast<int>(i) == who ? after : nullptr));
      all[i]->start(roots[i]);
    }
  }

  std::ptrdiff_t times(std::size_t who) const {
    return std::ranges::count(in.resumed, who);
  }

  cohort with;
  journal in;
  std::array<task_root, 5> roots;
  std::array<std::optional<task<done>>, 5> all;
};

} // namespace

TEST(cohort, resumes_visits_in_their_order_whatever_they_asked) {
  five testee{false, -1, {}};
  testee.with.answer();
  EXPECT_EQ(testee.in.resumed, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
  // Groups are in the order of their shapes.
  EXPECT_EQ(testee.in.answered, (std::vector<std::size_t>{4, 3, 2, 1, 0}));
}

TEST(cohort, does_not_notice_who_is_dropped_while_another_goes_on) {
  for (const bool alike : {true, false})
    for (const std::size_t victim : {0, 2, 4})
      for (const int when : {0, 1, 3}) {
        five* all = nullptr;
        five testee{alike, 1, [&](int i) {
                      if (i == when)
                        all->all[victim].reset();
                    }};
        all = &testee;
        while (testee.with.answer() > 0)
          continue;
        for (std::size_t i = 0; i < 5; ++i)
          EXPECT_EQ(testee.times(i),
                    i != victim ? 4 : when + (victim < 1 ? 1 : 0))
            << i;
      }
}

TEST(cohort, bears_that_all_are_dropped_and_others_begun_in_one_answer) {
  five* all = nullptr;
  five testee{true, 0, [&](int i) {
                if (i > 0)
                  return;
                for (std::size_t k = 1; k < 5; ++k) {
                  all->all[k].reset();
                  all->all[k].emplace(ask(all->with, k, 1, 2, all->in, {}));
                  all->all[k]->start(all->roots[k]);
                }
              }};
  all = &testee;
  while (testee.with.answer() > 0)
    continue;
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_TRUE(testee.all[i]->is_over());
    EXPECT_EQ(testee.times(i), i == 0 ? 4 : 2);
  }
}

TEST(cohort, goes_on_where_a_group_had_no_memory) {
  cohort testee;
  journal in;
  std::array<task_root, 4> roots;
  {
    auto first = ask_poorly(testee, 0), second = ask_poorly(testee, 1);
    auto other = ask(testee, 2, 1, 1, in, {});
    first.start(roots[0]);
    second.start(roots[1]);
    other.start(roots[2]);
    testee.answer();
    for (auto* x : {&first, &second}) {
      ASSERT_TRUE(x->is_over());
      EXPECT_FALSE(x->take());
    }
    ASSERT_TRUE(other.is_over());
    EXPECT_TRUE(other.take());
  }
  auto next = ask(testee, 0, 1, 2, in, {});
  next.start(roots[3]);
  while (testee.answer() > 0)
    continue;
  EXPECT_TRUE(next.is_over());
}

} // namespace troupe::models
