// What a computation that stops must bear, optimised or not.

#include "models/visit/task.hpp"

#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace troupe::models::task_test {

namespace {

/// A question to which the answer is 7; it is open until it is answered, or
/// goes with who asked.
struct question {
  question() = default;
  question(const question&) = delete;
  question& operator=(const question&) = delete;

  ~question() {
    if (open == this)
      open = nullptr;
  }

  bool await_ready() const noexcept {
    return false;
  }

  void await_suspend(std::coroutine_handle<> by) noexcept {
    asker = by;
    open = this;
  }

  int await_resume() const noexcept {
    return 7;
  }

  std::coroutine_handle<> asker;
  static inline question* open = nullptr;
};

void answer() {
  std::exchange(question::open, nullptr)->asker.resume();
}

int ended = 0; // Frames whose locals are gone.

struct witness {
  ~witness() {
    ++ended;
  }
};

struct kept_frames {
  frame_pool pool;

  frame_pool& frames() {
    return pool;
  }
};

/// Finds no room for the frame that comes after so many.
struct scarce_frames {
  frame_pool pool = {};
  int left = 0;

  frame_pool& frames() {
    if (left-- == 0)
      throw std::bad_alloc{};
    return pool;
  }
};

task<int> gives(kept_frames&, int x) {
  co_return x;
}

task<int> asks(kept_frames&) {
  question x;
  co_return co_await x;
}

task<int> fails(kept_frames&) {
  witness w;
  co_await result<int>{fail(errc::diverged, "no")};
  co_return 1;
}

task<int> throws(kept_frames&) {
  witness w;
  throw std::runtime_error{"thrown"};
  co_return 1;
}

task<int> throws_after_an_answer(kept_frames& v) {
  witness w;
  co_await asks(v);
  co_return co_await throws(v);
}

task<done> many(kept_frames& v, long n, bool asking, long* sum) {
  for (long i = 0; i < n; ++i) {
    if (asking)
      *sum += co_await asks(v);
    *sum += co_await gives(v, 1);
  }
  co_return {};
}

task<int> tower(kept_frames& v, int n) {
  if (n == 0)
    co_return co_await asks(v);
  co_return 1 + co_await tower(v, n - 1);
}

using step = std::function<task<int>(kept_frames&)>;

task<done> two_deep(kept_frames& v, const step* inner, bool* reached) {
  witness w;
  co_await (*inner)(v);
  *reached = true;
  co_return {};
}

class task_test : public ::testing::Test {
protected:
  void TearDown() override {
    EXPECT_EQ(v.pool.count(), 0u);
    EXPECT_EQ(question::open, nullptr);
  }

  kept_frames v;
  task_root root;
  long sum = 0;
};

} // namespace

TEST_F(task_test, bears_a_million_awaits_that_end_at_once) {
  auto testee = many(v, 1'000'000, false, &sum);
  testee.start(root);
  ASSERT_TRUE(testee.is_over());
  EXPECT_TRUE(testee.take());
  EXPECT_EQ(sum, 1'000'000);
}

TEST_F(task_test, bears_a_hundred_thousand_questions) {
  auto testee = many(v, 100'000, true, &sum);
  testee.start(root);
  for (int i = 0; i < 100'000; ++i) {
    ASSERT_FALSE(testee.is_over());
    answer();
  }
  ASSERT_TRUE(testee.is_over());
  EXPECT_EQ(sum, 800'000);
}

TEST_F(task_test, answers_a_tower_at_its_top) {
  auto testee = tower(v, 2'000);
  testee.start(root);
  ASSERT_FALSE(testee.is_over());
  EXPECT_EQ(v.pool.count(), 2'002u);
  answer();
  ASSERT_TRUE(testee.is_over());
  EXPECT_EQ(testee.take(), 2'007);
}

TEST_F(task_test, ends_with_an_error_at_any_depth) {
  struct {
    const char* text;
    step inner;
    bool asks;
  } const all[] = {{"no", fails, false},
                   {"thrown", throws, false},
                   {"thrown", throws_after_an_answer, true}};
  for (const auto& x : all) {
    ended = 0;
    bool reached = false;
    root.problem.reset();
    {
      auto testee = two_deep(v, &x.inner, &reached);
      testee.start(root);
      EXPECT_EQ(testee.is_over(), !x.asks);
      if (x.asks)
        answer();
      ASSERT_TRUE(testee.is_over());
      const auto found = testee.take();
      ASSERT_FALSE(found);
      EXPECT_EQ(found.error().context, x.text);
    }
    EXPECT_EQ(ended, x.asks ? 3 : 2);
    EXPECT_FALSE(reached);
    EXPECT_EQ(v.pool.count(), 0u);
  }
}

// Whichever of its calls fails, nothing after it runs, and every frame goes.
TEST_F(task_test, ends_at_whichever_call_fails) {
  for (int bad = 0; bad < 5; ++bad) {
    int calls = 0;
    root.problem.reset();
    ended = 0;
    const auto call = [&]() -> result<int> {
      if (calls++ == bad)
        return fail(errc::diverged, std::to_string(bad));
      return 1;
    };
    struct body {
      static task<int> inner(kept_frames&,
                             const std::function<result<int>()>* f) {
        witness w;
        const auto x = co_await (*f)();
        const auto y = co_await (*f)();
        co_return x + y;
      }

      static task<int> outer(kept_frames& v,
                             const std::function<result<int>()>* f) {
        witness w;
        auto x = co_await inner(v, f);
        x += co_await (*f)();
        x += co_await inner(v, f);
        co_return x;
      }
    };
    const std::function<result<int>()> f = call;
    {
      auto testee = body::outer(v, &f);
      testee.start(root);
      ASSERT_TRUE(testee.is_over());
      const auto found = testee.take();
      ASSERT_FALSE(found);
      EXPECT_EQ(found.error().context, std::to_string(bad));
    }
    EXPECT_EQ(calls, bad + 1);
    EXPECT_EQ(ended, bad < 2 ? 2 : bad == 2 ? 2 : 3) << bad;
    EXPECT_EQ(v.pool.count(), 0u);
  }
}

TEST_F(task_test, takes_its_question_with_it_when_it_is_given_up) {
  {
    auto testee = many(v, 3, true, &sum);
    testee.start(root);
    EXPECT_NE(question::open, nullptr);
  }
  EXPECT_EQ(question::open, nullptr);
}

TEST_F(task_test, goes_on_in_another_thread) {
  auto testee = many(v, 100, true, &sum);
  testee.start(root);
  for (int i = 0; i < 100; ++i)
    std::thread{answer}.join();
  ASSERT_TRUE(testee.is_over());
  EXPECT_EQ(sum, 800);
}

TEST_F(task_test, says_that_there_was_no_memory) {
  struct body {
    static task<int> runs_out(kept_frames&) {
      throw std::bad_alloc{};
      co_return 1;
    }
  };
  auto testee = body::runs_out(v);
  testee.start(root);
  ASSERT_TRUE(testee.is_over());
  EXPECT_EQ(testee.take().error().context,
            "there is not enough memory for this visit's arithmetic");
}

TEST_F(task_test, ends_at_whichever_frame_finds_no_memory) {
  struct body {
    static task<int> inner(scarce_frames&) {
      witness w;
      question x;
      co_return co_await x;
    }

    static task<int> outer(scarce_frames& v, bool* reached) {
      witness w;
      auto x = co_await inner(v);
      x += co_await inner(v);
      *reached = true;
      co_return x;
    }
  };
  for (int room = 1; room < 3; ++room) {
    scarce_frames poor{.left = room};
    bool reached = false;
    root.problem.reset();
    ended = 0;
    {
      auto testee = body::outer(poor, &reached);
      testee.start(root);
      while (!testee.is_over())
        answer();
      EXPECT_EQ(testee.take().error().context,
                "there is not enough memory for this visit's arithmetic");
    }
    EXPECT_FALSE(reached);
    EXPECT_EQ(ended, room);
    EXPECT_EQ(poor.pool.count(), 0u);
  }
}

// Frames of what has no pool come from the heap.
TEST_F(task_test, bears_as_much_without_a_pool) {
  struct body {
    static task<int> gives(int x) {
      co_return x;
    }

    static task<done> many(long n, long* sum) {
      for (long i = 0; i < n; ++i) {
        *sum += co_await gives(1);
        if (i % 10 == 0) {
          question x;
          *sum += co_await x;
        }
      }
      co_return {};
    }
  };
  auto testee = body::many(1'000'000, &sum);
  testee.start(root);
  while (!testee.is_over())
    answer();
  EXPECT_TRUE(testee.take());
  EXPECT_EQ(sum, 1'700'000);
}

// What ends gives its place to what begins.
TEST(frame_pool, gives_a_place_again) {
  frame_pool testee;
  void* first = frame_pool::take_from(&testee, 200);
  EXPECT_EQ(testee.count(), 1u);
  frame_pool::give_back(first);
  EXPECT_EQ(testee.count(), 0u);
  void* other = frame_pool::take_from(&testee, 600);
  void* again = frame_pool::take_from(&testee, 201);
  EXPECT_EQ(again, first);
  EXPECT_NE(other, first);
  void* large = frame_pool::take_from(&testee, 1 << 20);
  EXPECT_EQ(testee.count(), 2u);
  for (auto* x : {other, again, large})
    frame_pool::give_back(x);
}

} // namespace troupe::models::task_test
