#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "core/result.hpp"

namespace troupe::models {

/// A regular file's bytes as they lie on disk, read where they are looked at.
/// Who changes the file meanwhile gets what comes of it.
class mapped_file {
public:
  /// @param code of the error where it cannot be read; the text names the path
  [[nodiscard]] static result<mapped_file>
  open(const std::filesystem::path& path, errc code);

  mapped_file(mapped_file&& x) noexcept;
  mapped_file& operator=(mapped_file&& x) noexcept;
  ~mapped_file();

  std::span<const std::byte> bytes() const noexcept {
    return bytes_;
  }

private:
  explicit mapped_file(std::span<const std::byte> x) noexcept;

  std::span<const std::byte> bytes_;
};

} // namespace troupe::models
