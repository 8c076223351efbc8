// A tokenizer of two files: how long the first is in two bytes, vocab.json and
// merges.txt.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "core/assert.hpp"
#include "models/language/tokenizer.hpp"
#include "tests/damage/reader.hpp"
#include "tests/fuzz/tokenizer_laws.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace troupe;
  static const auto folder = damage::own_folder() / "two_files";
  if (size < 2)
    return 0;
  std::string_view bytes{reinterpret_cast<const char*>(data), size};
  bytes.remove_prefix(2);
  const auto length =
    std::min<std::size_t>(data[0] + data[1] * 256U, bytes.size());
  std::filesystem::create_directories(folder);
  damage::write(folder / "vocab.json", bytes.substr(0, length));
  damage::write(folder / "merges.txt", bytes.substr(length));
  const auto by = models::load_tokenizer(folder);
  if (!by) {
    TROUPE_ASSERT(by.error().context.starts_with(folder.string()));
    return 0;
  }
  fuzz::check_tokenizer(**by);
  // Either file stands for both.
  const auto again = models::load_tokenizer(folder / "merges.txt");
  TROUPE_ASSERT(again && (*again)->content() == (*by)->content());
  return 0;
}
