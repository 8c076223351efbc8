#include "actors/transport/landing_pool.hpp"

#include <new>

#include <sys/mman.h>

namespace troupe::transport {

namespace {

constexpr std::uint64_t page = 4096;

/// From here on memory comes in pages of two megabytes, if the system has some.
constexpr std::uint64_t huge_page = std::uint64_t{2} << 20;

std::uint64_t rounded(std::uint64_t bytes) {
  const auto to = bytes < 4 * huge_page ? page : huge_page;
  return (bytes + to - 1) / to * to;
}

std::size_t alignment_of(std::uint64_t room) {
  return room < 4 * huge_page ? landing_pool::alignment : huge_page;
}

std::byte* make(std::uint64_t room) {
  auto* at = ::operator new (room, std::align_val_t{alignment_of(room)});
  if (room >= 4 * huge_page)
    (void)madvise(at, room, MADV_HUGEPAGE);
  return static_cast<std::byte*>(at);
}

void drop(std::byte* x, std::uint64_t room) noexcept {
  ::operator delete (x, std::align_val_t{alignment_of(room)});
}

} // namespace

landing_pool::~landing_pool() {
  for (const auto& [room, x] : free_)
    drop(x, room);
}

std::shared_ptr<std::byte> landing_pool::take(std::uint64_t bytes) {
  const auto room = rounded(bytes);
  std::byte* x = nullptr;
  {
    const std::lock_guard guard{mutex_};
    if (const auto found = free_.find(room); found != free_.end()) {
      x = found->second;
      free_.erase(found);
      kept_ -= room;
    }
  }
  if (x == nullptr)
    x = make(room);
  return {x, [room, pool = weak_from_this()](std::byte* y) {
            if (const auto to = pool.lock())
              to->give_back(y, room);
            else
              drop(y, room);
          }};
}

std::uint64_t landing_pool::kept() const {
  const std::lock_guard guard{mutex_};
  return kept_;
}

void landing_pool::give_back(std::byte* x, std::uint64_t room) {
  {
    const std::lock_guard guard{mutex_};
    if (room <= kept_bytes_max_ - kept_) {
      free_.emplace(room, x);
      kept_ += room;
      return;
    }
  }
  drop(x, room);
}

} // namespace troupe::transport
