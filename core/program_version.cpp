#include "core/program_version.hpp"

namespace troupe {

std::string program_version() {
  return TROUPE_VERSION;
}

} // namespace troupe
