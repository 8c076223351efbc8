#include "models/safetensors.hpp"

#include <cstddef>
#include <cstdint>

#include "core/assert.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto x = troupe::models::parse_safetensors(
    std::as_bytes(std::span{data, size}), "fuzz");
  if (!x)
    return 0;
  TROUPE_ASSERT(x->values.size() == troupe::models::size_of(x->tensors));
  // Whatever was read is found again.
  const auto all = troupe::models::values_of(*x, x->tensors, "fuzz");
  TROUPE_ASSERT(all && all->size() == x->values.size());
  return 0;
}
