#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace troupe::messages {

/// What a message type is on the wire. Fields are only appended, so a version
/// is described by how many of them it has: `field_counts[0]` is that of
/// version 1.
struct schema {
  std::uint16_t kind;
  std::uint8_t
    readable_since; ///< The oldest reader that is right about `current()`.
  std::array<std::uint8_t, 8> field_counts; ///< Zero after the current version.

  constexpr std::uint8_t current() const noexcept {
    std::uint8_t n = 0;
    while (n < field_counts.size() && field_counts[n] != 0)
      ++n;
    return n;
  }

  /// @pre 1 <= version <= current()
  constexpr std::size_t fields_in(std::uint8_t version) const noexcept {
    return field_counts[version - 1u];
  }
};

/// What an envelope claims about its payload.
struct written_as {
  std::uint8_t version = 1;
  std::uint8_t readable_since = 1;
};

template <class T>
inline constexpr std::size_t field_count =
  std::tuple_size_v<decltype(T::fields(std::declval<T&>()))>;

/// A struct with a schema and a field list that agree.
template <class T>
concept message = T::wire.current() > 0 && T::wire.readable_since > 0
                  && T::wire.fields_in(T::wire.current()) == field_count<T>;

/// A struct that is part of messages: it has fields and no schema, so it never
/// changes. A message that needs more appends another field beside it.
template <class T>
concept composite = requires(T& x) {
  T::fields(x);
}
&&!requires {
  T::wire;
};

} // namespace troupe::messages
