#pragma once

// Processes that a figure needs: copies of this one that do one thing each.

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include <sys/resource.h>
#include <sys/types.h>

#include "core/result.hpp"

namespace troupe::node {

namespace detail {

void* map_shared(std::size_t bytes);
void unmap_shared(void* at, std::size_t bytes) noexcept;

} // namespace detail

/// A value that processes begun after it share with this one.
template <class T>
class shared_page {
public:
  shared_page()
    : at_(new (detail::map_shared(sizeof(T))) T{},
          [](T* x) { detail::unmap_shared(x, sizeof(T)); }) {
    static_assert(std::is_trivially_destructible_v<T>);
  }

  T* operator->() const noexcept {
    return at_.get();
  }

  T& operator*() const noexcept {
    return *at_;
  }

private:
  std::shared_ptr<T> at_;
};

/// An address that one process tells others.
class told_address {
public:
  void tell(const std::string& x) noexcept;

  bool is_told() const noexcept {
    return here_;
  }

  /// Waits for it, some minutes at most: others may use this machine.
  result<std::string> get() const;

private:
  std::array<char, 128> text_ = {};
  std::atomic<bool> here_{false};
};

/// What a process used from its begin to its end.
struct process_usage {
  double cpu_seconds = 0;
  std::uint64_t peak_bytes = 0; ///< Of memory.
};

/// A process that does `work`, and what came of it.
class helper_process {
public:
  /// @pre this process has no threads but the one that calls
  explicit helper_process(const std::function<result<void>()>& work);

  /// Ends it, if it still runs.
  ~helper_process();

  helper_process(const helper_process&) = delete;
  helper_process& operator=(const helper_process&) = delete;

  pid_t id() const noexcept {
    return id_;
  }

  /// Waits for its end. An error if its work was one.
  [[nodiscard]] result<process_usage> wait();

  /// The same, if it has ended.
  [[nodiscard]] std::optional<result<process_usage>> ended();

private:
  void conclude(int status, const rusage& used);

  shared_page<std::array<char, 512>> problem_; ///< Shared, so before it begins.
  pid_t id_;                                   ///< 0: it has ended.
  std::optional<result<process_usage>> end_;
};

/// What `at` is told, unless the process that is to tell it ends before.
[[nodiscard]] result<std::string> told_by(helper_process& who,
                                          const told_address& at);

/// Waits for the end of `one`, which cannot come where `other` fails.
[[nodiscard]] result<process_usage> wait_beside(helper_process& one,
                                                helper_process& other);

/// Resident memory of a process right now.
std::uint64_t resident_bytes(pid_t of);

/// CPU time that a process has used, all threads together.
double cpu_seconds(pid_t of);

} // namespace troupe::node
