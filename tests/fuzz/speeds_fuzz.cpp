#include <cstddef>
#include <cstdint>

#include "core/assert.hpp"
#include "tests/damage/reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace troupe;
  static const auto testee =
    damage::reader_of(damage::text_readers(), "speed trace");
  const auto found = testee.read({reinterpret_cast<const char*>(data), size});
  TROUPE_ASSERT(found != damage::verdict::wrong);
  return 0;
}
