#pragma once

// Memory of tensors, kept for the next one of about the same size. A step makes
// the tensors of the step before; given back to the system between, each page
// of them is asked for again, cleared and entered anew, which can cost more
// than what is computed there.

#include <cstddef>
#include <cstdint>

namespace troupe::models {

struct block_cache_facts {
  std::uint64_t kept_bytes = 0; ///< Of blocks that nobody has at present.
  std::uint64_t reused = 0;     ///< Blocks that somebody had before.
};

/// Smaller ones are left to the system's allocator, which keeps them itself.
inline constexpr std::size_t block_cache_least = 64 * 1024;

/// Beyond so many bytes all that is kept is given back: what has other sizes
/// now would otherwise never be kept. So it is where the system has no memory.
inline constexpr std::size_t block_cache_most = std::size_t{2} << 30;

/// From here on tensors have their memory of one cache, that all threads share.
/// Later calls do nothing. Where memory is short all that is kept is given
/// back, and where addresses are watched none is kept.
void keep_blocks_of_tensors();

block_cache_facts facts_of_block_cache();

} // namespace troupe::models
