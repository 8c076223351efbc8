// Files of keys, which people edit, and lines of invitations, which they copy.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/assert.hpp"
#include "node/keys/invitation_line.hpp"
#include "node/keys/permit.hpp"

// What is taken is written so that it reads back as the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace troupe::node;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  if (const auto x = read_permit(text)) {
    TROUPE_ASSERT(problem_of(*x).empty());
    TROUPE_ASSERT(read_permit(write_permit(*x)).value() == *x);
  } else {
    TROUPE_ASSERT(!x.error().context.empty());
  }
  if (const auto x = read_invitation(text)) {
    const auto again = read_invitation(write_invitation(*x));
    TROUPE_ASSERT(again && again->what == x->what && again->used == x->used);
  }
  if (const auto x = read_line(text)) {
    TROUPE_ASSERT(looks_like_line(text));
    const auto again = read_line(write_line(*x));
    TROUPE_ASSERT(again && again->address == x->address
                  && again->own.secret == x->own.secret);
  }
  if (const auto x = duration_in(text))
    TROUPE_ASSERT(*x > 0);
  return 0;
}
