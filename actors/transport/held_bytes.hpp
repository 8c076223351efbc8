#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "core/limits.hpp"

namespace troupe::transport {

/// What arrived over all connections of a process and has not been handled yet,
/// or is about to arrive, in bytes and in frames; of all of them, or of one
/// key's within these. At either bound no room is given for what is large.
/// Small frames go on up to half of it, and are dropped beyond: who waits for
/// an answer says them again. Thread-safe.
class held_bytes : public std::enable_shared_from_this<held_bytes> {
public:
  /// Beside its bytes: its mail.
  static constexpr std::uint64_t frame_costs = 256;

  /// Of small frames there may always be as many bytes.
  static constexpr std::uint64_t small_bytes_min = std::uint64_t{1} << 20;

  /// `freed` is called, on any thread, when there is room again for whom there
  /// was none.
  explicit held_bytes(std::uint64_t most, std::function<void()> freed = {},
                      std::uint64_t frames_max = limits::unhandled_frames_max)
    : most_(most),
      frames_max_(frames_max),
      freed_(std::move(freed)) {
    // nop
  }

  /// A part of `all`, which is told when there is room again.
  held_bytes(std::uint64_t most, std::shared_ptr<held_bytes> all)
    : most_(most),
      frames_max_(all->frames_max_),
      all_(std::move(all)) {
    // nop
  }

  /// Room for so much, for as long as the token lives. Null: there is none.
  /// What is larger than all room has it alone.
  std::shared_ptr<const void> take(std::uint64_t bytes) {
    std::shared_ptr<const void> within;
    const std::lock_guard guard{mutex_};
    if (!fits(bytes)) {
      want();
      return nullptr;
    }
    if (all_ && !(within = all_->take(bytes)))
      return nullptr;
    return token(bytes, std::move(within));
  }

  /// Whether `take` would find it here, whatever there is of what this is a
  /// part of.
  bool has(std::uint64_t bytes) const {
    const std::lock_guard guard{mutex_};
    return fits(bytes);
  }

  /// The same for a small frame that is here already. Null: it is to be
  /// dropped.
  std::shared_ptr<const void> count(std::uint64_t bytes) {
    bytes += frame_costs;
    std::shared_ptr<const void> within;
    if (all_ && !(within = all_->count(bytes - frame_costs)))
      return nullptr;
    const std::lock_guard guard{mutex_};
    if (small_ + bytes > std::max(most_ / 2, small_bytes_min)) {
      ++top().dropped_;
      return nullptr;
    }
    small_ += bytes;
    return token(bytes, std::move(within), bytes);
  }

  /// Small frames, of all.
  std::uint64_t dropped() const noexcept {
    return dropped_.load(std::memory_order_relaxed);
  }

  std::uint64_t most() const noexcept {
    return most_;
  }

  std::uint64_t frames_max() const noexcept {
    return frames_max_;
  }

  std::uint64_t now() const {
    const std::lock_guard guard{mutex_};
    return now_;
  }

  std::uint64_t frames() const {
    const std::lock_guard guard{mutex_};
    return frames_;
  }

private:
  bool fits(std::uint64_t bytes) const noexcept {
    const bool full = now_ != 0 && (bytes > most_ || now_ > most_ - bytes);
    return !full && frames_ < frames_max_;
  }

  held_bytes& top() noexcept {
    return all_ ? *all_ : *this;
  }

  /// Somebody goes away without. Of a part: what is given back to it is given
  /// back to all, too, and a little later.
  void want() {
    if (!all_) {
      wanted_ = true;
      return;
    }
    const std::lock_guard guard{all_->mutex_};
    all_->want();
  }

  std::shared_ptr<const void> token(std::uint64_t bytes,
                                    std::shared_ptr<const void> within,
                                    std::uint64_t small = 0) {
    now_ += bytes;
    ++frames_;
    return {this, [self = shared_from_this(), bytes, small,
                   within = std::move(within)](const void*) mutable {
              // In this order: who hears of room finds it.
              self->give_back(bytes, small);
              within.reset();
            }};
  }

  // A thread is not woken for each small frame that was handled.
  void give_back(std::uint64_t bytes, std::uint64_t small) {
    bool wanted = false;
    {
      const std::lock_guard guard{mutex_};
      now_ -= bytes;
      small_ -= small;
      --frames_;
      wanted = std::exchange(wanted_, false);
    }
    if (wanted && freed_)
      freed_();
  }

  mutable std::mutex mutex_;
  const std::uint64_t most_;
  const std::uint64_t frames_max_;
  std::function<void()> freed_;
  const std::shared_ptr<held_bytes> all_; ///< Null: this is all.
  std::uint64_t now_ = 0;
  std::uint64_t small_ = 0; ///< Of that.
  std::uint64_t frames_ = 0;
  std::atomic<std::uint64_t> dropped_{0};
  bool wanted_ = false; ///< Since it was said the last time.
};

} // namespace troupe::transport
