#include "models/torch/batch.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "core/assert.hpp"
#include "core/random.hpp"
#include "models/data/check_dataset.hpp"

namespace troupe::models {

namespace {

using rows = batch_maker::rows;

template <class T>
void copy_rows(const std::vector<T>& from, std::size_t size, rows which,
               T* to) {
  for (const auto row : which)
    to = std::copy_n(from.data() + row * size, size, to);
}

} // namespace

at::Tensor empty_batch(const column& from, std::size_t count) {
  std::vector<std::int64_t> shape{static_cast<std::int64_t>(count)};
  shape.insert(shape.end(), from.shape.begin(), from.shape.end());
  const bool integers =
    std::holds_alternative<std::vector<std::int64_t>>(from.values);
  return at::empty(shape, integers ? at::kLong : at::kFloat);
}

std::vector<at::Tensor>
batch_maker::inputs(const example_set& from, rows which,
                    std::optional<std::uint64_t> seed) const {
  for (const auto row : which)
    TROUPE_ASSERT(row < from.size);
  std::vector<at::Tensor> result;
  result.reserve(from.inputs.size());
  for (const auto& x : from.inputs) {
    auto batch = empty_batch(x, which.size());
    const auto size = size_of_example(x);
    if (const auto* bytes = std::get_if<std::vector<std::uint8_t>>(&x.values))
      gather(bytes->data(), size, from, which, seed, batch.data_ptr<float>());
    else if (const auto* numbers = std::get_if<std::vector<float>>(&x.values))
      copy_rows(*numbers, size, which, batch.data_ptr<float>());
    else
      copy_rows(std::get<std::vector<std::int64_t>>(x.values), size, which,
                batch.data_ptr<std::int64_t>());
    result.push_back(std::move(batch));
  }
  return result;
}

void batch_maker::gather(const std::uint8_t* images, std::size_t size,
                         const example_set& from, rows which,
                         std::optional<std::uint64_t> seed, float* to) const {
  const bool augments = seed && pixels_.augments();
  random_stream draws{derive_seed(seed.value_or(0), "augment")};
  for (const auto row : which) {
    const std::span image{images + row * size, size};
    if (augments)
      pixels_.read_changed(image, from.turns.empty() ? 0 : from.turns[row],
                           draws, to);
    else
      pixels_.read(image, to);
    to += size;
  }
}

at::Tensor labels_of(const example_set& from, rows which) {
  auto result = at::empty({static_cast<std::int64_t>(which.size())}, at::kLong);
  auto* to = result.data_ptr<std::int64_t>();
  for (const auto row : which)
    *to++ = from.labels[row];
  return result;
}

} // namespace troupe::models
