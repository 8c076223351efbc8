#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace troupe::transport {

/// Memory in which large messages land and where their values stay: aligned for
/// any loop over them. What nobody holds any more is kept for the next ones,
/// since memory that is fresh costs more than the copy into it. Thread-safe.
class landing_pool : public std::enable_shared_from_this<landing_pool> {
public:
  static constexpr std::size_t alignment = 64;

  /// @param kept_bytes_max of what nobody holds
  explicit landing_pool(std::uint64_t kept_bytes_max)
    : kept_bytes_max_(kept_bytes_max) {
    // nop
  }

  ~landing_pool();

  landing_pool(const landing_pool&) = delete;
  landing_pool& operator=(const landing_pool&) = delete;

  /// Not zeroed. It outlives the pool where somebody holds it for longer.
  /// @throws std::bad_alloc
  std::shared_ptr<std::byte> take(std::uint64_t bytes);

  /// Bytes that nobody holds.
  std::uint64_t kept() const;

private:
  void give_back(std::byte* x, std::uint64_t room);

  const std::uint64_t kept_bytes_max_;
  mutable std::mutex mutex_;
  std::multimap<std::uint64_t, std::byte*> free_; ///< By size.
  std::uint64_t kept_ = 0;
};

} // namespace troupe::transport
