#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace troupe {

/// Values that lie in a row, as their handle shows them. It is not copied: what
/// is called `auto x = *values` elsewhere would outlive them here. Who wants a
/// copy says `copy()`, and who keeps them keeps the handle. Two are equal where
/// their values are.
class value_view : public std::span<const float> {
public:
  using const_iterator = iterator;

  /// Values of one's own.
  std::vector<float> copy() const {
    return {begin(), end()};
  }

  friend bool operator==(const value_view& a, const value_view& b) noexcept {
    return std::ranges::equal(a, b);
  }

  friend bool operator==(const value_view& a,
                         const std::vector<float>& b) noexcept {
    return std::ranges::equal(a, b);
  }

private:
  friend class shared_values;

  value_view() = default;

  explicit value_view(std::span<const float> x) : std::span<const float>(x) {
    // nop
  }

  value_view(const value_view&) = default;
  value_view& operator=(const value_view&) = default;
};

/// Parameters that many read and nobody changes, and whatever keeps them where
/// they are: a vector, or memory that they arrived in. They may travel.
class shared_values {
public:
  shared_values() = default;

  shared_values(std::nullptr_t) { // Implicit, as of a pointer.
    // nop
  }

  /// @param owner keeps `x`, for as long as one of its copies lives; not null
  shared_values(std::shared_ptr<const void> owner, std::span<const float> x)
    : owner_(std::move(owner)),
      view_(x) {
    // nop
  }

  explicit operator bool() const noexcept {
    return owner_ != nullptr;
  }

  // They are looked at where a handle on them stays: what a call returns has to
  // be kept first (tests/tidy/views_of_values.cpp).
  const value_view& operator*() const& noexcept {
    return view_;
  }

  const value_view* operator->() const& noexcept {
    return &view_;
  }

  const value_view& operator*() const&& = delete;
  const value_view* operator->() const&& = delete;

  /// Values of one's own; also of what a call returns.
  std::vector<float> copy() const {
    return view_.copy();
  }

  const std::shared_ptr<const void>& owner() const noexcept {
    return owner_;
  }

  /// The lower half of each is zero, as `rounded_to_bf16` has found or made it.
  /// It is not written down.
  bool is_bf16() const noexcept {
    return is_bf16_;
  }

  /// The very same ones.
  friend bool operator==(const shared_values& a,
                         const shared_values& b) noexcept {
    return a.owner_ == b.owner_ && a.view_.data() == b.view_.data()
           && a.view_.size() == b.view_.size();
  }

private:
  friend shared_values rounded_to_bf16(const shared_values& x);

  std::shared_ptr<const void> owner_;
  value_view view_;
  bool is_bf16_ = false;
};

inline shared_values share(std::vector<float> x) {
  auto owner = std::make_shared<const std::vector<float>>(std::move(x));
  const std::span<const float> view{*owner};
  return {std::move(owner), view};
}

/// Those from `first` on, as many as there are up to `count`.
struct values_part {
  std::size_t first = 0;
  std::size_t count = ~std::size_t{0};
};

/// A handle on some of them, which keeps all. @pre of.first <= x->size()
inline shared_values some_of(const shared_values& x, values_part of) {
  return {x.owner(),
          x->subspan(of.first, std::min(of.count, x->size() - of.first))};
}

/// What a server's optimiser remembers of a block. It is larger than the block
/// and only who merges and who stores needs it.
class shared_moments {
public:
  shared_moments() = default;

  explicit shared_moments(std::vector<double> x)
    : values_(x.empty()
                ? nullptr
                : std::make_shared<const std::vector<double>>(std::move(x))) {
    // nop
  }

  std::span<const double> view() const noexcept {
    return values_ ? std::span{*values_} : std::span<const double>{};
  }

  bool empty() const noexcept {
    return values_ == nullptr;
  }

private:
  std::shared_ptr<const std::vector<double>> values_;
};

/// Parameters that stay with one client. Deliberately a type of its own without
/// a conversion to `shared_values`, which is all that a message can carry:
/// sending a personal block does not compile (tests/tidy/personal_values.cpp).
/// Who copies them by `own_view()` stands where nothing is sent: tests/tidy
/// holds that.
class personal_values {
public:
  personal_values() = default;

  explicit personal_values(std::vector<float> x) : values_(std::move(x)) {
    // nop
  }

  std::span<const float> own_view() const noexcept {
    return values_;
  }

  std::span<float> own_view() noexcept {
    return values_;
  }

  bool empty() const noexcept {
    return values_.empty();
  }

  friend bool operator==(const personal_values&,
                         const personal_values&) = default;

private:
  std::vector<float> values_;
};

} // namespace troupe
