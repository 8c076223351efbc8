#pragma once

#include <cstddef>
#include <tuple>

#include <sodium.h>

#include "core/assert.hpp"
#include "models/layout.hpp"

namespace troupe::models {

/// The digest of bytes that come piece by piece.
class blake2b {
public:
  blake2b() noexcept {
    // Chooses the implementation for this processor, once.
    static const bool ready = sodium_init() >= 0;
    TROUPE_ASSERT(ready);
    crypto_generichash_init(&state_, nullptr, 0, std::tuple_size_v<digest>);
  }

  void add(const void* data, std::size_t size) noexcept {
    crypto_generichash_update(&state_, static_cast<const unsigned char*>(data),
                              size);
  }

  /// Nothing may be added afterwards.
  digest finish() noexcept {
    digest result{};
    crypto_generichash_final(&state_, result.data(), result.size());
    return result;
  }

private:
  crypto_generichash_state state_;
};

} // namespace troupe::models
