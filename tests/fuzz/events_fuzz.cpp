#include "actors/record/event_reader.hpp"

#include <cstddef>
#include <cstdint>

#include "core/assert.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto x =
    troupe::actors::read_event({reinterpret_cast<const char*>(data), size});
  if (x)
    return 0;
  TROUPE_ASSERT(x.error().code == troupe::errc::invalid_data);
  TROUPE_ASSERT(!x.error().context.empty());
  return 0;
}
