#pragma once

// Files that are their owner's alone, and what others have nothing to do with.

#include <filesystem>
#include <string>

#include "core/result.hpp"

namespace troupe::node {

/// An error: nobody can say.
[[nodiscard]] result<bool> is_there(const std::filesystem::path& path);

/// The text of a small file. What others may read or write is refused;
/// `unavailable` says nothing of the file, but that it is not known to be gone
/// and the machine is short of something, or its disk fails.
[[nodiscard]] result<std::string>
read_private(const std::filesystem::path& path);

/// The code of a call that has failed so; `unavailable` as above.
errc code_of(int why);

/// In its place at once, and on the disk.
[[nodiscard]] result<void> write_private(const std::filesystem::path& path,
                                         const std::string& text);

/// Makes the folder, where it is not, its owner's alone; one that others may
/// change is refused.
[[nodiscard]] result<void> make_private(const std::filesystem::path& folder);

/// Nobody else looks into this process, and it leaves no image behind when it
/// dies. False: the system refuses.
bool keep_to_itself();

} // namespace troupe::node
