#include "models/data/csv.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/assert.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const troupe::models::csv_options opts{
    .label = "y", .partition = "p", .classes = 10};
  const auto x = troupe::models::parse_csv(
    {reinterpret_cast<const char*>(data), size}, "fuzz", opts);
  if (!x)
    return 0;
  const auto& [rows, inputs, labels, turns, domains] = x->examples;
  const auto& values = std::get<std::vector<float>>(inputs.at(0).values);
  TROUPE_ASSERT(rows > 0 && labels.size() == rows && turns.empty()
                && domains.empty() && x->partition.size() == rows);
  TROUPE_ASSERT(values.size() == rows * x->features.size());
  for (const auto label : labels)
    TROUPE_ASSERT(label >= 0 && label < opts.classes);
  for (const auto value : values)
    TROUPE_ASSERT(std::isfinite(value));
  return 0;
}
