#pragma once

#include <cuda_runtime.h>

#include <array>
#include <span>
#include <string>

#include "core/assert.hpp"
#include "core/result.hpp"

namespace troupe::kernels::cuda {

/// Memory of the device that is kept between operations and grows when it must.
class device_buffer {
public:
  device_buffer() = default;
  device_buffer(const device_buffer&) = delete;
  device_buffer& operator=(const device_buffer&) = delete;

  ~device_buffer() {
    cudaFree(memory_);
  }

  cudaError_t reserve(std::size_t bytes) {
    if (bytes <= capacity_)
      return cudaSuccess;
    cudaFree(memory_);
    memory_ = nullptr;
    capacity_ = 0;
    const auto status = cudaMalloc(&memory_, bytes);
    if (status == cudaSuccess)
      capacity_ = bytes;
    return status;
  }

  void* get() const noexcept {
    return memory_;
  }

private:
  void* memory_ = nullptr;
  std::size_t capacity_ = 0;
};

/// The most buffers that one operation has on the device.
using device_buffers = std::array<device_buffer, 12>;

inline constexpr unsigned block_size = 256;

/// One operation: rooms, uploads, kernels, then `finished`, then downloads.
/// After the first error nothing more is done, and the error is what `finished`
/// returns.
class operation {
public:
  operation(int ordinal, device_buffers& buffers) : buffers_(buffers) {
    check(cudaSetDevice(ordinal));
  }

  /// The next buffer, with room for n values.
  template <class T>
  T* room(std::size_t n) {
    TROUPE_ASSERT(used_ < buffers_.size());
    auto& buffer = buffers_[used_++];
    if (ok())
      check(buffer.reserve(n * sizeof(T)));
    return static_cast<T*>(buffer.get());
  }

  template <class T>
  T* input(std::span<const T> from) {
    auto* to = room<T>(from.size());
    upload(to, from);
    return to;
  }

  template <class T>
  void upload(T* to, std::span<const T> from) {
    if (ok())
      check(
        cudaMemcpy(to, from.data(), from.size_bytes(), cudaMemcpyHostToDevice));
  }

  void clear(void* at, std::size_t bytes) {
    if (ok())
      check(cudaMemset(at, 0, bytes));
  }

  /// Runs one thread per value.
  template <class... Parameters, class... Arguments>
  void launch(void (*kernel)(Parameters...), std::size_t n,
              const Arguments&... arguments) {
    if (!ok())
      return;
    const auto blocks = (n + block_size - 1) / block_size;
    kernel<<<static_cast<unsigned>(blocks), block_size>>>(arguments..., n);
    check(cudaGetLastError());
  }

  template <class T>
  void download(std::span<T> to, const T* from) {
    if (ok())
      check(
        cudaMemcpy(to.data(), from, to.size_bytes(), cudaMemcpyDeviceToHost));
  }

  void check(cudaError_t status) {
    if (ok())
      status_ = status;
  }

  bool ok() const noexcept {
    return status_ == cudaSuccess;
  }

  /// Waits for the device. Before this is asked nothing of the caller's is
  /// written.
  result<void> finished(const char* what) {
    if (ok())
      check(cudaDeviceSynchronize());
    if (ok())
      return {};
    return fail(errc::device_failure,
                std::string{what} + ": " + cudaGetErrorString(status_));
  }

private:
  device_buffers& buffers_;
  std::size_t used_ = 0;
  cudaError_t status_ = cudaSuccess;
};

} // namespace troupe::kernels::cuda
