#include "models/torch/language/distances.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace troupe::models {

std::int64_t distances_of(const language_spec& x) noexcept {
  return x.relative_buckets > 0 ? x.relative_buckets : x.relative_span;
}

std::int64_t bucket_of(std::int64_t distance, const language_spec& x) noexcept {
  const std::int64_t near = x.relative_buckets / 2;
  const auto far = std::abs(distance);
  const auto unit = static_cast<double>(near);
  const auto last = static_cast<double>(x.relative_span) - 1;
  if (near == 0 || far <= near || last <= unit)
    return distance;
  const auto share =
    std::log(static_cast<double>(far) / unit) / std::log(last / unit);
  const auto bucket =
    static_cast<std::int64_t>(std::ceil(share * (unit - 1))) + near;
  return distance < 0 ? -bucket : bucket;
}

at::Tensor rows_of_distances(std::int64_t tokens, const language_spec& x) {
  const auto half = distances_of(x);
  auto result = at::empty({tokens, tokens}, at::kLong);
  auto* to = result.data_ptr<std::int64_t>();
  for (std::int64_t query = 0; query < tokens; ++query)
    for (std::int64_t key = 0; key < tokens; ++key)
      *to++ = std::clamp<std::int64_t>(bucket_of(query - key, x) + half, 0,
                                       2 * half - 1);
  return result;
}

} // namespace troupe::models
