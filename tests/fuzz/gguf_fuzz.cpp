#include "models/language/gguf.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/assert.hpp"

// Tensors that were read lie within the file, none over another, and have as
// many values as their extents say.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace troupe::models;
  const auto bytes = std::as_bytes(std::span{data, size});
  auto x = parse_gguf(bytes, "fuzz");
  if (!x)
    return 0;
  TROUPE_ASSERT(x->version == 2 || x->version == 3);
  for (const auto& [key, value] : x->values) {
    const int kinds = (x->text(key) != nullptr) + x->number(key).has_value()
                      + x->flag(key).has_value() + (x->texts(key) != nullptr);
    TROUPE_ASSERT(kinds == (value.index() < 6 ? 1 : 0));
  }
  std::ranges::sort(x->tensors, {}, &gguf_tensor::begin);
  std::uint64_t end = 0;
  for (const auto& y : x->tensors) {
    std::uint64_t values = 1;
    for (const auto extent : y.shape)
      values *= static_cast<std::uint64_t>(extent);
    TROUPE_ASSERT(y.begin <= size && y.bytes <= size - y.begin);
    TROUPE_ASSERT(bytes_of(y.type, values) == y.bytes);
    if (y.bytes == 0)
      continue;
    TROUPE_ASSERT(y.begin >= end);
    end = y.begin + y.bytes;
    std::vector<float> room(values);
    dequantise(y.type, bytes.subspan(y.begin, y.bytes), room);
  }
  return 0;
}
