// A config.json, or the header of a GGUF file: what is read of it.

#include "models/language/spec.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/assert.hpp"
#include "models/language/names.hpp"

namespace {

using namespace troupe::models;

/// Each tensor has values, and what a network looks for is among them.
void check_tensors(const language_spec& x) {
  const auto all = tensors_of(x);
  for (const auto& tensor : all)
    TROUPE_ASSERT(
      !tensor.shape.empty()
      && std::ranges::all_of(tensor.shape, [](auto n) { return n > 0; }));
  const auto places = places_of(x);
  TROUPE_ASSERT(places.tokens < all.size());
  TROUPE_ASSERT(!x.has_head || places.head < all.size());
  TROUPE_ASSERT(places.layers.size() == x.layers);
  for (const auto& layer : places.layers)
    TROUPE_ASSERT(layer.query < all.size() && layer.down < all.size());
}

} // namespace

// What was read is written as it is read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  if (const auto config = troupe::json::parse(text))
    if (const auto x = parse_spec(*config, "fuzz")) {
      check_tensors(*x);
      const auto again = parse_spec(config_of(*x), "fuzz");
      TROUPE_ASSERT(again && *again == *x);
    }
  if (const auto header =
        parse_gguf(std::as_bytes(std::span{data, size}), "fuzz"))
    if (const auto x = parse_spec(*header, "fuzz"))
      check_tensors(*x);
  return 0;
}
