// An input says what becomes of a joining process's store: which of its files,
// whether it is cut, and then which of its bytes are others, three for a place,
// one for what stands there.

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/assert.hpp"
#include "tests/damage/reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace troupe;
  static const auto all = damage::store_readers(damage::own_folder());
  static const std::array testees{
    damage::reader_of(all, "clients (join --store)"),
    damage::reader_of(all, "offer (join --store)"),
    damage::reader_of(all, "state (join --store)")};
  if (size == 0)
    return 0;
  const auto& testee = testees[data[0] % testees.size()];
  auto bytes = testee.originals.front();
  if ((data[0] & 128U) != 0)
    bytes.resize(bytes.size() * (data[0] & 127U) / 128);
  for (std::size_t i = 1; i + 4 <= size && !bytes.empty(); i += 4) {
    const auto at = data[i] + data[i + 1] * 256U + data[i + 2] * 65536U;
    bytes[at % bytes.size()] = static_cast<char>(data[i + 3]);
  }
  TROUPE_ASSERT(testee.read(bytes) != damage::verdict::wrong);
  return 0;
}
