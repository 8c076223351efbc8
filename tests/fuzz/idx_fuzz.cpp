#include "models/data/idx.hpp"

#include <cstddef>
#include <cstdint>

#include "core/assert.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto x =
    troupe::models::parse_idx(std::as_bytes(std::span{data, size}), "fuzz");
  if (!x)
    return 0;
  std::size_t values = 1;
  for (const auto extent : x->shape)
    values *= static_cast<std::size_t>(extent);
  TROUPE_ASSERT(x->values.size() == values);
  return 0;
}
