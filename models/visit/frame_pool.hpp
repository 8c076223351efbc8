#pragma once

// Where the frames of one visit's coroutines stand. A visit calls the same few
// over and over: what ends leaves its place to the next of its size.

#include <array>
#include <cstddef>

namespace troupe::models {

/// One thread at a time.
class frame_pool {
public:
  frame_pool() = default;
  frame_pool(const frame_pool&) = delete;
  frame_pool& operator=(const frame_pool&) = delete;

  /// @pre all that was taken was given back
  ~frame_pool();

  /// Without a pool, or for what is large, from the heap. Throws as `new` does.
  static void* take_from(frame_pool* pool, std::size_t size);

  /// To where it was taken from.
  static void give_back(void* at) noexcept;

  /// Frames that stand now; for tests.
  std::size_t count() const noexcept {
    return taken_;
  }

private:
  struct head;

  static constexpr std::size_t step = 128;
  static constexpr std::size_t classes = 16;

  std::array<head*, classes> free_{};
  std::size_t taken_ = 0;
};

} // namespace troupe::models
