#include <cstddef>
#include <cstdint>
#include <span>

#include "core/assert.hpp"
#include "models/language/gguf.hpp"
#include "models/language/tokenizer.hpp"
#include "tests/fuzz/tokenizer_laws.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace troupe::models;
  const auto header = parse_gguf(std::as_bytes(std::span{data, size}), "fuzz");
  if (!header)
    return 0;
  const auto by = tokenizer_of(*header, "fuzz");
  if (!by) {
    TROUPE_ASSERT(by.error().context.starts_with("fuzz"));
    return 0;
  }
  const auto* tokens = header->texts("tokenizer.ggml.tokens");
  TROUPE_ASSERT(tokens != nullptr && (*by)->size() == tokens->size());
  troupe::fuzz::check_tokenizer(**by);
  return 0;
}
