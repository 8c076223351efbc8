#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "core/result.hpp"
#include "models/language/tokenizer.hpp"

namespace troupe::models {

/// Ids of a text in two bytes each, or four where one needs it, in memory or in
/// a mapped file. Copies share them.
class token_ids {
public:
  token_ids() = default;
  explicit token_ids(std::span<const token_id> xs);

  /// `invalid_data`: cut off, of another build, sums do not agree.
  [[nodiscard]] static result<token_ids>
  open(const std::filesystem::path& path);

  /// Nobody but the owner may read it. Returns `storage_failure`.
  [[nodiscard]] result<void> write(const std::filesystem::path& path) const;

  std::size_t size() const noexcept {
    return size_;
  }

  /// @pre i < size()
  token_id operator[](std::size_t i) const noexcept;

  /// @pre they are there
  void read(std::size_t first, std::span<std::int32_t> to) const noexcept;

  std::size_t width() const noexcept { ///< 2 or 4
    return width_;
  }

  /// As they lie.
  std::span<const std::byte> bytes() const noexcept {
    return {at_, size_ * width_};
  }

  /// So many of them, shared with these. @pre they are there
  token_ids part(std::size_t first, std::size_t count) const noexcept;

private:
  std::shared_ptr<const void> owner_;
  const std::byte* at_ = nullptr;
  std::size_t size_ = 0;
  std::size_t width_ = 2;
};

} // namespace troupe::models
