#include "actors/transport/envelope.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/assert.hpp"

namespace {

using namespace troupe::transport;

/// What can be read says the same when it is written again, with the envelope
/// of our own version: what a newer peer appended is lost, and what an older
/// one did not know of follows.
void read_and_write(const buffer& frame) {
  const auto x = decode(frame);
  if (!x)
    return;
  const auto again = encode(*x);
  TROUPE_ASSERT(again.size() == encoded_size(*x));
  const auto common = std::min(again.size(), frame.size());
  TROUPE_ASSERT(std::memcmp(again.data() + envelope_size,
                            frame.data() + envelope_size,
                            common - envelope_size)
                == 0);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto* first = reinterpret_cast<const std::byte*>(data);
  buffer frame(first, first + size);
  read_and_write(frame);
  if (size < envelope_size)
    return 0;
  // Nobody guesses a checksum: the same again as a frame whose seal holds.
  const auto length = static_cast<std::uint32_t>(size - envelope_size);
  std::memcpy(frame.data() + 12, &length, sizeof length);
  const std::span all{frame};
  const auto crc = crc32c(all.subspan(envelope_size), crc32c(all.first(20)));
  std::memcpy(frame.data() + 20, &crc, sizeof crc);
  read_and_write(frame);
  return 0;
}
