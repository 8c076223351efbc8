#pragma once

#include <string>

namespace troupe {

/// Which troupe this is, such as "0.1.0".
std::string program_version();

/// Which build of it: the version, and what the linker has made of its bytes.
std::string build_name();

} // namespace troupe
