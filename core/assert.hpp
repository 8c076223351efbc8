#pragma once

#include <cstdio>
#include <cstdlib>

/// A broken invariant of ours ends the process, also in release builds: going
/// on would merge or store what nobody can vouch for.
#define TROUPE_ASSERT(condition)                                               \
  (static_cast<bool>(condition)                                                \
     ? static_cast<void>(0)                                                    \
     : ::troupe::detail::broken_invariant(#condition, __FILE__, __LINE__))

namespace troupe::detail {

[[noreturn]] inline void broken_invariant(const char* condition,
                                          const char* file, int line) {
  std::fprintf(stderr, "troupe: broken invariant at %s:%d: %s\n", file, line,
               condition);
  std::abort();
}

} // namespace troupe::detail
