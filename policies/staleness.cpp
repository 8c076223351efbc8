#include "policies/staleness.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe::policies {

double
polynomial_discount::operator()(std::uint64_t versions_behind) const noexcept {
  return std::pow(1.0 + static_cast<double>(versions_behind), -exponent);
}

double
hinge_discount::operator()(std::uint64_t versions_behind) const noexcept {
  if (versions_behind <= knee)
    return 1.0;
  return 1.0 / (slope * static_cast<double>(versions_behind - knee) + 1.0);
}

double
exponential_discount::operator()(std::uint64_t versions_behind) const noexcept {
  return std::exp(-rate * static_cast<double>(versions_behind));
}

double weight_of(const staleness_discount& discount,
                 std::uint64_t versions_behind) {
  const auto weight =
    std::visit([=](const auto& f) { return f(versions_behind); }, discount);
  return std::max(weight, std::numeric_limits<double>::min());
}

} // namespace troupe::policies
