#pragma once

// Files: read whole or by lines, or put in place at once. Nobody ever sees half
// of one. What is no file is refused at once: a pipe would be waited for.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/limits.hpp"
#include "core/result.hpp"

namespace troupe::models {

/// All bytes of a regular file. Fails with `code` and a text that names the
/// path.
[[nodiscard]] result<std::vector<std::byte>>
read_file(const std::filesystem::path& path, errc code,
          std::uint64_t bytes_max = limits::file_bytes_max);

/// The same of a text.
[[nodiscard]] result<std::string> read_text(const std::filesystem::path& path,
                                            errc code);

/// A regular file that is open. Who has it closes it.
struct opened_file {
  int fd = -1;
  std::uint64_t bytes = 0;
};

/// Opens one without waiting: a pipe that nobody writes to would be waited for.
/// Refuses it as `read_file` does.
[[nodiscard]] result<opened_file>
open_file(const std::filesystem::path& path, errc code,
          std::uint64_t bytes_max = std::numeric_limits<std::uint64_t>::max());

/// The lines of a regular file, one after the other.
class line_reader {
public:
  [[nodiscard]] static result<line_reader>
  open(const std::filesystem::path& path, errc code);

  line_reader(line_reader&& other) noexcept;
  line_reader& operator=(line_reader&&) = delete;
  ~line_reader();

  /// Whether there is one more that ends. `line` has it, without its end.
  bool next();

  const std::string& line() const noexcept {
    return line_;
  }

  /// What is left has no end of a line, or no end that is near enough.
  bool cut_off() const noexcept {
    return cut_off_;
  }

  std::uint64_t bytes() const noexcept { ///< Of the file.
    return bytes_;
  }

private:
  line_reader(int fd, std::uint64_t bytes) noexcept : fd_(fd), bytes_(bytes) {
    // nop
  }

  bool fill();

  int fd_;
  std::uint64_t bytes_;
  std::string line_;
  std::string waiting_; ///< Read and not yet given out.
  std::size_t given_ = 0;
  bool cut_off_ = false;
};

struct replace_options {
  /// Waits until the file and its name are on the disk.
  bool sync = false;
  /// Nobody but the owner may read it.
  bool secret = false;
};

/// Makes `parts`, one after the other, the content of `path`: into a file
/// beside it that is renamed when it is complete. Returns `storage_failure` if
/// it can't, and then `path` is as it was: so it is where `path` is no regular
/// file.
[[nodiscard]] result<void>
replace_file(const std::filesystem::path& path,
             std::span<const std::span<const std::byte>> parts,
             const replace_options& opts);

/// Whether a file of this name is what `replace_file` left behind when the
/// process died in the middle of it.
bool is_unfinished(const std::filesystem::path& path);

/// Whether there is something of this name that we may see.
bool is_there(const std::filesystem::path& path);

/// Refuses a link that leads to nothing, or to itself: it is seen in its
/// folder, and `is_there` says that it is not there. Returns `invalid_data`.
[[nodiscard]] result<void> check_link(const std::filesystem::path& path);

/// What cannot be done with a file, and why errno says so.
tl::unexpected<error> fail_errno(errc code, const std::filesystem::path& path,
                                 const char* what);

/// What is wrong in a file: `origin` is its name, or a place in it.
tl::unexpected<error> fail_at(std::string_view origin, const std::string& what);

/// Removes all such files of a folder. What cannot be removed stays. @pre
/// nobody puts a file in its place there meanwhile
void remove_unfinished(const std::filesystem::path& folder);

} // namespace troupe::models
