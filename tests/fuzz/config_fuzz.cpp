#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/assert.hpp"
#include "tests/support/config_text.hpp"

// What is read is written so that it reads back as the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace troupe::node;
  const auto x = read({reinterpret_cast<const char*>(data), size});
  if (!x) {
    TROUPE_ASSERT(!x.error().context.empty());
    return 0;
  }
  const auto again = read(write_config(x->x));
  TROUPE_ASSERT(again && same(x->x, again->x));
  return 0;
}
