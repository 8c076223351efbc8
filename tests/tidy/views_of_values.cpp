// Values are looked at through a handle that stays, and their view is not
// copied. This file compiles as it stands; with one token changed, it must not:
// TROUPE_HANDLE=made() looks at what nobody keeps, TROUPE_BY= copies the view.

#include "core/values.hpp"

#ifndef TROUPE_HANDLE
#define TROUPE_HANDLE kept
#endif

#ifndef TROUPE_BY
#define TROUPE_BY &
#endif

namespace troupe {

shared_values made();

const float* begin_of(const shared_values& kept) {
  const auto TROUPE_BY seen = *TROUPE_HANDLE;
  return seen.data() + TROUPE_HANDLE->size() + kept->size();
}

} // namespace troupe
