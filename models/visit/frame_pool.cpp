#include "models/visit/frame_pool.hpp"

#include <new>
#include <utility>

#include "core/assert.hpp"

namespace troupe::models {

/// Before each frame.
struct alignas(__STDCPP_DEFAULT_NEW_ALIGNMENT__) frame_pool::head {
  frame_pool* pool;
  union {
    std::size_t of;  ///< Its class, while it is taken.
    head* next_free; ///< Of the same class.
  };
};

frame_pool::~frame_pool() {
  TROUPE_ASSERT(taken_ == 0);
  for (auto* at : free_)
    while (at)
      ::operator delete(std::exchange(at, at->next_free));
}

void* frame_pool::take_from(frame_pool* pool, std::size_t size) {
  const auto all = size + sizeof(head);
  const auto of = (all - 1) / step;
  if (of >= classes)
    pool = nullptr;
  if (pool && pool->free_[of]) {
    auto* at = std::exchange(pool->free_[of], pool->free_[of]->next_free);
    at->of = of;
    ++pool->taken_;
    return at + 1;
  }
  auto* at = static_cast<head*>(::operator new(pool ? (of + 1) * step : all));
  at->pool = pool;
  at->of = of;
  if (pool)
    ++pool->taken_;
  return at + 1;
}

void frame_pool::give_back(void* x) noexcept {
  auto* at = static_cast<head*>(x) - 1;
  if (auto* pool = at->pool) {
    const auto of = at->of;
    at->next_free = std::exchange(pool->free_[of], at);
    --pool->taken_;
  } else {
    ::operator delete(at);
  }
}

} // namespace troupe::models
