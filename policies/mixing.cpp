#include "policies/mixing.hpp"

#include <cmath>
#include <sstream>

namespace troupe::policies {

namespace {

std::string text_of(double x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

result<void> refuse(const std::string& what, double found, const char* wanted) {
  return fail(errc::invalid_config,
              what + " is " + text_of(found) + "; " + wanted + " would do");
}

} // namespace

std::string describe(const merge_rule& x) {
  const auto count = std::to_string(x.count);
  switch (x.kind) {
    case merge_kind::mean:
      return "weighted mean";
    case merge_kind::sum_over:
      return "sum over the number of clients ever admitted";
    case merge_kind::mix:
      return "weighted mean, mixed in with rate " + text_of(x.amount);
    case merge_kind::replace:
      return "the offer takes the place of the version";
    case merge_kind::padded:
      return "weighted mean in which missing ranks are zeros";
    case merge_kind::median:
      return "median of each coordinate";
    case merge_kind::trimmed_mean:
      return "mean of each coordinate without the " + count
             + " largest and smallest";
    case merge_kind::product_svd:
      return "weighted mean of products, factored anew";
    case merge_kind::krum:
      break;
  }
  return "mean of the " + std::to_string(x.keep)
         + " offers closest to others, of which " + count
         + " may be bad (Krum)";
}

result<void> check(const merge_rule& x) {
  const auto name = "merge rule '" + std::string{to_string(x.kind)} + "': ";
  // Comparisons are written so that what is no number fails.
  if (x.kind == merge_kind::mix && !(x.amount > 0 && x.amount <= 1))
    return refuse(name + "amount", x.amount, "above 0 and up to 1");
  if (x.kind == merge_kind::krum && x.keep == 0)
    return refuse(name + "keep", 0, "1 (Krum) or more (multi-Krum)");
  return {};
}

result<void> check(const merge_rule& x, std::uint64_t offers) {
  if (auto own = check(x); !own)
    return own;
  if (offers >= offers_needed(x))
    return {};
  return fail(errc::invalid_config,
              "merge rule '" + std::string{to_string(x.kind)} + "' with count "
                + std::to_string(x.count)
                + (x.kind == merge_kind::krum
                     ? " and keep " + std::to_string(x.keep)
                     : "")
                + " needs " + std::to_string(offers_needed(x))
                + " offers, and a merge may have " + std::to_string(offers)
                + "; larger merges or a smaller count would do");
}

result<void> check(const server_numbers& x) {
  if (!(x.rate > 0 && std::isfinite(x.rate)))
    return refuse("server learning rate", x.rate, "above 0");
  if (!(x.beta1 >= 0 && x.beta1 < 1))
    return refuse("server beta1", x.beta1, "from 0 and below 1");
  if (!(x.beta2 >= 0 && x.beta2 < 1))
    return refuse("server beta2", x.beta2, "from 0 and below 1");
  if (!(x.tau > 0 && std::isfinite(x.tau)))
    return refuse("server tau", x.tau, "above 0");
  return {};
}

} // namespace troupe::policies
