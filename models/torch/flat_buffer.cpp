#include "models/torch/flat_buffer.hpp"

#include <ATen/ATen.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "core/assert.hpp"

namespace troupe::models {

namespace {

at::Tensor zeros_to_be(std::size_t count) {
  constexpr std::size_t alignment = 64;
  const auto bytes = count * sizeof(float);
  auto room = bytes + alignment;
  void* const whole = std::calloc(room, 1);
  if (whole == nullptr)
    throw std::bad_alloc{};
  void* first = whole;
  TROUPE_ASSERT(std::align(alignment, bytes, first, room) != nullptr);
  return at::from_blob(first, {static_cast<std::int64_t>(count)},
                       [whole](void*) { std::free(whole); });
}

} // namespace

flat_buffer::flat_buffer(const tensor_list& parts)
  : storage(zeros_to_be(size_of(parts))) {
  auto* at = storage.data_ptr<float>();
  TROUPE_ASSERT(reinterpret_cast<std::uintptr_t>(at) % 64 == 0);
  for (const auto& x : parts) {
    views.push_back(at::from_blob(at, x.shape));
    at += x.size();
  }
}

std::span<float> flat_buffer::values() const noexcept {
  return {storage.data_ptr<float>(), static_cast<std::size_t>(storage.numel())};
}

std::vector<group_buffers::leaf> flat_buffer::leaves() const {
  std::vector<group_buffers::leaf> all;
  std::size_t at = 0;
  for (const auto& x : views) {
    all.push_back({.values = x, .at = at});
    at += static_cast<std::size_t>(x.numel());
  }
  return all;
}

} // namespace troupe::models
