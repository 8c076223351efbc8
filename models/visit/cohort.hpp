#pragma once

// The questions of visits that are computed together.

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "models/thrown.hpp"
#include "models/visit/task.hpp"
#include "models/visit/value_pool.hpp"

namespace troupe::models {

class cohort;

/// What a visit wants computed. It stands in the frame of who asks, and leaves
/// its cohort with it. An error is the end of who asked, and of nobody else.
/// @pre its cohort outlives it
class question {
public:
  question(cohort& with, std::size_t place) : with_(with), place_(place) {
    // nop
  }

  question(const question&) = delete;
  question& operator=(const question&) = delete;

  /// Questions that agree in it can be answered by one computation.
  struct shape {
    std::string_view what;
    std::size_t size = 0; ///< Of the model.
    std::size_t rows = 0;

    friend auto operator<=>(const shape&, const shape&) = default;
  };

  virtual shape of() const = 0;

  /// Computes it. What a library throws is an error as well.
  [[nodiscard]] virtual result<void> answer() = 0;

  /// Computes those of one shape together, of which this is the first: by
  /// default one after the other. What it throws is the end of all of them.
  virtual void answer_all(std::span<question* const> group);

  bool await_ready() const noexcept {
    return false;
  }

  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> by) {
    asker_ = by;
    root_ = by.promise().root();
    ask();
  }

protected:
  ~question();

  /// Does a part of it. What goes wrong is kept for who asked, and then it is
  /// false.
  template <class Part>
  bool attempt(Part part) noexcept {
    try {
      if (auto ok = part(); !ok)
        root_->problem = std::move(ok.error());
    } catch (...) {
      root_->problem = what_was_thrown();
    }
    return !root_->problem;
  }

private:
  friend class cohort;

  void ask();
  static void answer_group(std::span<question* const> group) noexcept;

  cohort& with_;
  std::size_t place_; ///< Of the visit, among those of the cohort.
  std::coroutine_handle<> asker_;
  task_root* root_ = nullptr;
  bool is_open_ = false;
};

/// One thread at a time; it need not always be the same one.
/// @pre all its visits compute with one backend, or with such as are equal
class cohort {
public:
  cohort() = default;
  cohort(const cohort&) = delete;
  cohort& operator=(const cohort&) = delete;

  /// Answers all questions that are open, those of one shape after each other,
  /// in the order of their visits, and lets who asked go on, in that order.
  /// Returns how many there were.
  std::size_t answer();

  /// Of what its visits hold beside their models.
  value_pool& rooms() noexcept {
    return rooms_;
  }

private:
  friend class question;

  std::vector<question*> open_;
  std::vector<question*> answered_; ///< Null: it left meanwhile.
  value_pool rooms_;
};

} // namespace troupe::models
