#pragma once

#include <string>

namespace troupe {

/// Which troupe this is, such as "0.1.0".
std::string program_version();

} // namespace troupe
