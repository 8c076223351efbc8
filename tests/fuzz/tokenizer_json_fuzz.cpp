#include <cstddef>
#include <cstdint>

#include "models/language/tokenizer.hpp"
#include "tests/fuzz/tokenizer_laws.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto said =
    troupe::json::parse({reinterpret_cast<const char*>(data), size});
  if (!said)
    return 0;
  if (const auto by = troupe::models::parse_tokenizer(*said, "fuzz"))
    troupe::fuzz::check_tokenizer(**by);
  return 0;
}
