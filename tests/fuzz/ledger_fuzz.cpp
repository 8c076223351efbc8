// An input says which bytes of a valid ledger are others: three for a place,
// one for what stands there.

#include <cstddef>
#include <cstdint>

#include "core/assert.hpp"
#include "tests/damage/reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace troupe;
  static const auto testee = damage::reader_of(
    damage::ledger_readers(damage::own_folder()), "ledger (--resume)");
  auto ledger = testee.originals.front();
  for (std::size_t i = 0; i + 4 <= size; i += 4) {
    const auto at = data[i] + data[i + 1] * 256U + data[i + 2] * 65536U;
    ledger[at % ledger.size()] = static_cast<char>(data[i + 3]);
  }
  TROUPE_ASSERT(testee.read(ledger) != damage::verdict::wrong);
  return 0;
}
