#pragma once

// A computation that stops in two ways: with an error, which ends all of it, or
// at a question, until somebody has answered. So whoever holds several may
// answer the same question of all of them at once.
//
// No stack grows with the number of awaits, optimised or not: a child runs
// within its parent's `await_suspend`, which says "go on" if the child ended
// there. Only a chain of calls that all end at one answer is as deep as it is.

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <new>
#include <optional>
#include <utility>

#include "core/assert.hpp"
#include "core/result.hpp"
#include "models/thrown.hpp"
#include "models/visit/frame_pool.hpp"

// What finds the pool is a template, and g++ 12 holds each of its instances to
// be another's `new`.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

namespace troupe::models {

/// What the coroutines of one computation share.
struct task_root {
  std::optional<error> problem;
};

/// For tasks that come to nothing but their end.
struct done {};

/// Frames of coroutines whose first argument, or object, has a pool stand in
/// that. @pre it outlives them
template <class T>
concept has_frames = requires(T& x) {
  { x.frames() } -> std::same_as<frame_pool&>;
};

class task_promise {
public:
  template <has_frames First, class... Rest>
  static void* operator new(std::size_t size, First& first, Rest&...) {
    return frame_pool::take_from(&first.frames(), size);
  }

  static void* operator new(std::size_t size) {
    return frame_pool::take_from(nullptr, size);
  }

  static void operator delete(void* at, std::size_t) noexcept {
    frame_pool::give_back(at);
  }

  std::suspend_always initial_suspend() const noexcept {
    return {};
  }

  struct at_the_end {
    bool await_ready() const noexcept {
      return false;
    }

    template <class Promise>
    std::coroutine_handle<>
    await_suspend(std::coroutine_handle<Promise> by) const noexcept {
      task_promise& of = by.promise();
      of.has_ended_ = true;
      if (of.waits_ && !of.root_->problem)
        return of.waits_;
      return std::noop_coroutine();
    }

    void await_resume() const noexcept {
      // nop
    }
  };

  at_the_end final_suspend() const noexcept {
    return {};
  }

  /// What libraries throw ends the computation like any other error.
  void unhandled_exception() noexcept {
    root_->problem = what_was_thrown();
  }

  task_root* root() const noexcept {
    return root_;
  }

  bool is_over() const noexcept {
    return has_ended_ || root_->problem;
  }

  /// Runs to the end, an error or a question.
  void start(task_root& root, std::coroutine_handle<> own) {
    root_ = &root;
    own.resume();
  }

  /// Is resumed when this has ended.
  void is_awaited_by(std::coroutine_handle<> x) noexcept {
    waits_ = x;
  }

private:
  task_root* root_ = nullptr;
  std::coroutine_handle<> waits_;
  bool has_ended_ = false;
};

template <class T>
class [[nodiscard]] task {
public:
  // A frame of a type that is aligned further begins elsewhere than
  // `from_promise` believes.
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

  struct promise_type : task_promise {
    std::optional<T> value;

    task get_return_object() noexcept {
      return task{std::coroutine_handle<promise_type>::from_promise(*this)};
    }

    void return_value(T x) {
      value = std::move(x);
    }
  };

  task(task&& x) noexcept : frame_(std::exchange(x.frame_, nullptr)) {
    // nop
  }

  task& operator=(task&&) = delete;

  /// Gives it up if it has not ended: what it waits for stands in its frame,
  /// and ends before it.
  ~task() {
    if (frame_)
      frame_.destroy();
  }

  // As what another task awaits.

  bool await_ready() const noexcept {
    return false;
  }

  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> by) {
    auto& own = frame_.promise();
    own.start(*by.promise().root(), frame_);
    if (own.is_over() && !own.root()->problem)
      return false;
    own.is_awaited_by(by); // It asks; or all has failed, and nobody goes on.
    return true;
  }

  T await_resume() {
    return std::move(*frame_.promise().value);
  }

  // As the outermost.

  void start(task_root& root) {
    frame_.promise().start(root, frame_);
  }

  bool is_over() const noexcept {
    return frame_.promise().is_over();
  }

  /// @pre `is_over()`
  result<T> take() {
    TROUPE_ASSERT(is_over());
    auto& own = frame_.promise();
    if (auto& problem = own.root()->problem)
      return tl::unexpected{std::move(*problem)};
    return std::move(*own.value);
  }

private:
  explicit task(std::coroutine_handle<promise_type> x) noexcept : frame_(x) {
    // nop
  }

  std::coroutine_handle<promise_type> frame_;
};

/// An error ends the whole computation where it is awaited: what comes after
/// does not run, destructors do. By `operator co_await`, since g++ 12 copies
/// what `await_transform` passes on.
template <class T>
struct result_awaiter {
  result<T> x;

  bool await_ready() const noexcept {
    return x.has_value();
  }

  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> by) noexcept {
    by.promise().root()->problem = std::move(x.error());
  }

  T await_resume() {
    if constexpr (!std::is_void_v<T>)
      return std::move(*x);
  }
};

} // namespace troupe::models

namespace troupe {

// Where argument-dependent look-up finds it, by the error.
template <class T>
models::result_awaiter<T> operator co_await(result<T>&& x) {
  return {std::move(x)};
}

} // namespace troupe
