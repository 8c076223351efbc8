#include "models/data/shift.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/assert.hpp"
#include "core/random.hpp"
#include "models/data/deal.hpp"

namespace troupe::models {

namespace {

/// One example of a column, as planes of n x n.
struct image_shape {
  std::size_t planes = 0;
  std::size_t edge = 0;

  std::size_t size() const noexcept {
    return planes * edge * edge;
  }
};

using byte_pixels = std::vector<std::uint8_t>;

result<image_shape> shape_of(const dataset& data) {
  const auto& shape = data.train.inputs.front().shape;
  const auto n = shape.size();
  if (data.train.inputs.size() != 1 || n < 2 || n > 3
      || shape[n - 1] != shape[n - 2])
    return fail(errc::invalid_config,
                "data '" + data.name
                  + "' has no square images, which 'shift' = \"rotation\" "
                    "turns; \"labels\" would do");
  return image_shape{.planes = n == 3 ? static_cast<std::size_t>(shape[0]) : 1,
                     .edge = static_cast<std::size_t>(shape[n - 1])};
}

/// A quarter to the left: what was at the right is on top.
template <class T>
void turn(T* image, const image_shape& shape, std::vector<T>& room) {
  const auto n = shape.edge;
  room.assign(image, image + shape.size());
  for (std::size_t p = 0; p < shape.planes; ++p)
    for (std::size_t y = 0; y < n; ++y)
      for (std::size_t x = 0; x < n; ++x)
        image[(p * n + y) * n + x] = room[(p * n + x) * n + n - 1 - y];
}

void turn_rows(example_set& of, const std::vector<std::uint32_t>& rows,
               const image_shape& shape, std::size_t quarters) {
  of.turns.resize(of.size);
  for (const auto row : rows)
    of.turns[row] = static_cast<std::uint8_t>(quarters);
  std::visit(
    [&](auto& values) {
      std::decay_t<decltype(values)> room;
      for (const auto row : rows)
        for (std::size_t i = 0; i < quarters; ++i)
          turn(values.data() + row * shape.size(), shape, room);
    },
    of.inputs.front().values);
}

void shift_labels(example_set& of, const std::vector<std::uint32_t>& rows,
                  std::int64_t by, std::int64_t classes) {
  for (const auto row : rows)
    of.labels[row] = (of.labels[row] + by) % classes;
}

void negate_rows(example_set& of, const row_list& rows, std::size_t size) {
  auto& values = std::get<byte_pixels>(of.inputs.front().values);
  for (const auto row : rows)
    for (std::size_t i = row * size; i < (row + 1) * size; ++i)
      values[i] = static_cast<std::uint8_t>(255 - values[i]);
}

void put_into_domains(example_set& set, const image_shape& shape,
                      random_stream random) {
  constexpr auto negative = domains_of_images - 1;
  row_list order(set.size);
  std::iota(order.begin(), order.end(), 0u);
  random.shuffle(order);
  set.domains.resize(set.size);
  for (std::size_t domain = 0; domain < domains_of_images; ++domain) {
    row_list rows;
    give(rows, order, domain * set.size / domains_of_images,
         (domain + 1) * set.size / domains_of_images);
    for (const auto row : rows)
      set.domains[row] = static_cast<std::uint8_t>(domain);
    if (domain == negative)
      negate_rows(set, rows, shape.size());
    else
      turn_rows(set, rows, shape, domain);
  }
}

} // namespace

result<void> shift_domains(dataset& data, std::uint64_t seed) {
  const auto shape = shape_of(data);
  const auto are_bytes = [](const example_set& x) {
    return x.inputs.empty()
           || std::holds_alternative<byte_pixels>(x.inputs.front().values);
  };
  if (!shape || !are_bytes(data.train) || !are_bytes(data.test))
    return fail(errc::invalid_config,
                "data '" + data.name
                  + "' has no square images of bytes, which 'shift' = "
                    "\"domains\" turns and negates; \"none\" would do");
  std::uint64_t index = 0;
  for (auto* set : {&data.train, &data.test}) {
    if (set->size > 0)
      put_into_domains(*set, *shape,
                       random_stream{derive_seed(seed, "domains", index)});
    ++index;
  }
  return {};
}

result<void> shift_clusters(dataset& data, const partition& parts,
                            cluster_shift how, std::size_t clusters) {
  TROUPE_ASSERT(clusters > 0);
  if (how == cluster_shift::none || how == cluster_shift::domains)
    return {};
  image_shape shape;
  if (how == cluster_shift::rotation) {
    if (4 % clusters != 0)
      return fail(errc::invalid_config,
                  "images turn by quarters, so 1, 2 or 4 'clusters' would do; "
                  "found "
                    + std::to_string(clusters));
    const auto found = shape_of(data);
    if (!found)
      return tl::unexpected{found.error()};
    shape = *found;
  }
  const auto change = [&](example_set& of, const auto& lists) {
    for (std::size_t k = 0; k < lists.size(); ++k) {
      const auto c = k % clusters;
      if (how == cluster_shift::rotation)
        turn_rows(of, lists[k], shape, c * 4 / clusters);
      else
        shift_labels(of, lists[k], static_cast<std::int64_t>(c), data.classes);
    }
  };
  change(data.train, parts.train);
  change(data.test, parts.test);
  return {};
}

} // namespace troupe::models
