#pragma once

// Values where a backend computes, as those hold them who do not compute
// themselves: to be passed on and cut, not to be looked into. What says how a
// model is trained can so be the same wherever the model is.

#include <concepts>
#include <cstddef>
#include <span>

#include "core/assert.hpp"

namespace troupe::kernels {

class const_array;

class array {
public:
  array() = default;

  /// Memory of this process: every backend can compute there.
  template <class Range>
  requires std::convertible_to<Range&&, std::span<float>> array(Range&& x)
  noexcept : at_(x) { // Implicit: nothing is lost.
    // nop
  }

  std::size_t size() const noexcept {
    return at_.size();
  }

  bool empty() const noexcept {
    return at_.empty();
  }

  array part(std::size_t from, std::size_t count) const {
    TROUPE_ASSERT(from <= size() && count <= size() - from);
    return at_.subspan(from, count);
  }

  /// For backends, and for models that are made of it. @pre it is memory of
  /// this process
  std::span<float> host() const noexcept {
    return at_;
  }

private:
  std::span<float> at_;
};

class const_array {
public:
  const_array() = default;

  template <class Range>
  requires std::convertible_to<Range&&, std::span<const float>>
  const_array(Range&& x)
  noexcept : at_(x) {
    // nop
  }

  const_array(array x) noexcept : at_(x.host()) {
    // nop
  }

  std::size_t size() const noexcept {
    return at_.size();
  }

  bool empty() const noexcept {
    return at_.empty();
  }

  const_array part(std::size_t from, std::size_t count) const {
    TROUPE_ASSERT(from <= size() && count <= size() - from);
    return at_.subspan(from, count);
  }

  /// As above.
  std::span<const float> host() const noexcept {
    return at_;
  }

private:
  std::span<const float> at_;
};

} // namespace troupe::kernels
