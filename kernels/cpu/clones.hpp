#pragma once

// How loops are compiled for several widths of vectors.

// Sanitizers also instrument the resolvers that choose a clone, which run
// before the sanitizers are ready.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)            \
  && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TROUPE_CLONES                                                          \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TROUPE_CLONES
#endif

// A clone vectorizes what is inlined into it.
#define TROUPE_INLINE [[gnu::always_inline]] inline
