#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace troupe::actors {

/// A file to which whole lines of text are appended, many at a time.
class line_file {
public:
  /// Opens the file or makes it. Half a line at its end, which a process that
  /// died left there, is cut off; where no line ends within reach, it is
  /// `storage_failure`.
  [[nodiscard]] static result<line_file>
  open(const std::filesystem::path& path);

  line_file(line_file&& other) noexcept;

  /// Tries to write what is left.
  ~line_file();

  /// Adds a line, for now in memory. Returns `storage_failure` if the file
  /// cannot be written and `limits::unwritten_bytes_max` wait already: that
  /// line is lost.
  [[nodiscard]] result<void> append(std::string_view line);

  struct flush_options {
    bool sync = false; ///< Waits for the disk.
  };

  /// Writes all lines. What could not be written, half a line included, waits
  /// for the next call.
  [[nodiscard]] result<void> flush(const flush_options& opts);

  /// Bytes in the file, without the lines that wait.
  std::uint64_t size() const;

  /// Forgets what comes after so many bytes, and all lines that wait. Returns
  /// `storage_failure` if there are fewer.
  [[nodiscard]] result<void> cut(std::uint64_t bytes);

private:
  line_file(std::filesystem::path path, int fd);

  std::filesystem::path path_;
  int fd_;
  std::string waiting_;
  bool dirty_ = false; ///< Something was written after the last sync.
};

} // namespace troupe::actors
