#include "models/data/cifar.hpp"

#include <cstddef>
#include <cstdint>

#include "core/assert.hpp"

namespace {

void read_as(troupe::models::cifar_kind kind, std::span<const std::byte> bytes,
             int classes) {
  troupe::models::example_set set;
  std::vector<std::int64_t> coarse;
  const auto done =
    troupe::models::append_cifar(bytes, kind, "fuzz", set, coarse);
  TROUPE_ASSERT(done.has_value() == (set.size > 0));
  TROUPE_ASSERT(set.labels.size() == set.size);
  for (const auto label : set.labels)
    TROUPE_ASSERT(label >= 0 && label < classes);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  read_as(troupe::models::cifar_kind::cifar10, bytes, 10);
  read_as(troupe::models::cifar_kind::cifar100, bytes, 100);
  return 0;
}
