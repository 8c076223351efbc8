#include "node/task/memory_there.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "models/language/names.hpp"
#include "models/machine_memory.hpp"

namespace troupe::node {

namespace {

constexpr auto bytes_most = std::numeric_limits<std::uint64_t>::max();

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  return b > 0 && a > bytes_most / b ? bytes_most : a * b;
}

/// @param what "[model]: its weights take"
result<void> refuse_beyond(std::uint64_t bytes,
                           std::optional<std::uint64_t> there,
                           const std::string& what, const char* would_do) {
  if (!there || bytes <= *there)
    return {};
  return fail(errc::invalid_config,
              what + ' ' + std::to_string(bytes) + " bytes, and there are "
                + std::to_string(*there) + " here; " + would_do + " would do");
}

} // namespace

std::optional<std::uint64_t> memory_there() {
  const auto x = models::look_at_memory();
  if (x.bytes_max == 0)
    return std::nullopt;
  return std::min(x.bytes_max + x.swap_bytes_max, x.group_bytes_max);
}

result<void> check_weights(const models::language_spec& x,
                           std::optional<std::uint64_t> there) {
  const auto values = models::size_of(models::tensors_of(x));
  return refuse_beyond(times(values, sizeof(float)), there,
                       "[model]: its weights take",
                       "a smaller 'embedding', or fewer 'layers',");
}

// A feed-forward block has what comes in beside what is between its products.
result<void> check_batch(const experiment& x,
                         const models::language_spec& model,
                         std::optional<std::uint64_t> there) {
  const auto& how = x.training;
  if (how.batches == models::batch_rule::epochs)
    return {};
  const std::uint64_t rows = how.batch_size;
  const auto at_once =
    how.micro_batch > 0 ? std::min<std::uint64_t>(rows, how.micro_batch) : rows;
  const auto row = times(std::uint64_t{x.data.context} * sizeof(float),
                         std::uint64_t{model.width} + model.inner);
  const auto bytes =
    std::max(times(at_once, row), times(rows, sizeof(std::uint32_t)));
  return refuse_beyond(bytes, there,
                       "'batch_size' is " + std::to_string(rows)
                         + ", and a step of so many rows of "
                         + std::to_string(x.data.context)
                         + " tokens takes at least",
                       "a smaller one, or a 'micro_batch',");
}

} // namespace troupe::node
