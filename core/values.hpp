#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace troupe {

/// Parameters that many read and nobody changes. They may travel.
using shared_values = std::shared_ptr<const std::vector<float>>;

inline shared_values share(std::vector<float> x) {
  return std::make_shared<const std::vector<float>>(std::move(x));
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
