#pragma once

#include <cstdint>
#include <variant>

namespace troupe::policies {

// A discount maps "versions behind" to a weight in (0, 1]. A fresh offer always
// weighs 1, so that changing the discount never changes a synchronous run.

/// Every admitted offer counts fully.
struct constant_discount {
  double operator()(std::uint64_t) const noexcept {
    return 1.0;
  }
};

/// The weight falls as (1 + s)^-exponent, as in FedAsync and FedBuff.
struct polynomial_discount {
  double exponent = 0.5;

  double operator()(std::uint64_t versions_behind) const noexcept;
};

/// FedAsync's hinge: 1 up to the knee b, and 1 / (a (s - b) + 1) after it, with
/// the paper's a = 10 as slope and b = 4.
struct hinge_discount {
  std::uint64_t knee = 4;
  double slope = 10.0;

  double operator()(std::uint64_t versions_behind) const noexcept;
};

/// The weight falls as exp(-rate s).
struct exponential_discount {
  double rate = 0.1;

  double operator()(std::uint64_t versions_behind) const noexcept;
};

/// The closed set that a configuration can name: adding one is a compile error
/// wherever it was forgotten, and needs no registration at run time.
using staleness_discount = std::variant<constant_discount, polynomial_discount,
                                        hinge_discount, exponential_discount>;

/// The discount of an offer, never zero: refusing is admission's decision.
/// @pre exponents, slopes and rates are not negative
double weight_of(const staleness_discount& discount,
                 std::uint64_t versions_behind);

} // namespace troupe::policies
