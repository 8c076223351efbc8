#include "models/language/shard.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/assert.hpp"

namespace {

// Tensors that were read are parts of the file, one behind the other.
void read_shard(std::span<const std::byte> bytes) {
  using namespace troupe::models;
  const auto x = parse_shard(bytes, "fuzz");
  if (!x)
    return;
  const auto* end = bytes.data();
  for (const auto& y : x->tensors) {
    TROUPE_ASSERT(bytes_of(y.type, y.size()) == y.bytes.size());
    TROUPE_ASSERT(y.bytes.data() >= end);
    end = y.bytes.data() + y.bytes.size();
    std::vector<float> values(y.size());
    dequantise(y.type, y.bytes, values);
  }
  TROUPE_ASSERT(end <= bytes.data() + bytes.size());
}

} // namespace

// The same bytes are one shard, or the index of several.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  read_shard(std::as_bytes(std::span{data, size}));
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  if (const auto index = troupe::models::parse_shard_index(text, "fuzz"))
    for (const auto& [name, file] : *index)
      TROUPE_ASSERT(!file.empty() && file.find('/') == file.npos
                    && file != "..");
  return 0;
}
