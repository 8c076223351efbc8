// A model on a disk. An even byte, and a .gguf; an odd one, and how long in two
// bytes, and a folder's config.json and model.safetensors.

#include "models/language/base.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "core/assert.hpp"
#include "tests/damage/reader.hpp"

namespace {

using namespace troupe::models;

void open_all(const std::filesystem::path& path) {
  const auto stored = open_base(path, base_storage::as_stored);
  for (const auto how : {base_storage::f32, base_storage::bf16}) {
    const auto x = open_base(path, how);
    TROUPE_ASSERT(!x || stored); // What is large may not be finite in bf16.
    if (!x)
      continue;
    const auto values = (*x)->values();
    TROUPE_ASSERT(values.size() == size_of((*x)->tensors()));
    TROUPE_ASSERT(std::ranges::all_of(
      values, [](float value) { return std::isfinite(value); }));
    TROUPE_ASSERT((*x)->content() != (*stored)->content());
  }
  if (stored) {
    const auto values = (*stored)->values();
    TROUPE_ASSERT(values.size() == size_of((*stored)->tensors()));
    TROUPE_ASSERT(std::ranges::all_of(
      values, [](float value) { return std::isfinite(value); }));
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  static const auto folder = troupe::damage::own_folder();
  std::string_view bytes{reinterpret_cast<const char*>(data), size};
  if (size == 0)
    return 0;
  bytes.remove_prefix(1);
  if (data[0] % 2 == 0) {
    troupe::damage::write(folder / "x.gguf", bytes);
    open_all(folder / "x.gguf");
    return 0;
  }
  if (bytes.size() < 2)
    return 0;
  const auto length =
    std::min<std::size_t>(data[1] + data[2] * 256U, bytes.size() - 2);
  bytes.remove_prefix(2);
  std::filesystem::create_directories(folder / "x");
  troupe::damage::write(folder / "x" / "config.json", bytes.substr(0, length));
  troupe::damage::write(folder / "x" / "model.safetensors",
                        bytes.substr(length));
  open_all(folder / "x");
  return 0;
}
