#include "tests/damage/reader.hpp"

namespace troupe::damage {

std::vector<reader> script_readers(const std::filesystem::path&) {
  return {};
}

} // namespace troupe::damage
