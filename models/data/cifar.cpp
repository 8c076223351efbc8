#include "models/data/cifar.hpp"

#include <string>
#include <utility>

#include "models/files.hpp"

namespace troupe::models {

namespace {

constexpr std::size_t pixels = 3 * 32 * 32;

struct format {
  std::size_t labels; ///< Bytes before the pixels; the last is the class.
  std::int64_t classes;
  std::int64_t coarse = 0; ///< Classes of the first label, if there are two.
};

constexpr format format_of(cifar_kind x) noexcept {
  return x == cifar_kind::cifar10
           ? format{.labels = 1, .classes = 10}
           : format{.labels = 2, .classes = 100, .coarse = 20};
}

std::vector<std::uint8_t>& pixels_of(example_set& x) {
  if (x.inputs.empty())
    x.inputs.push_back({.name = "image",
                        .shape = {3, 32, 32},
                        .values = std::vector<std::uint8_t>{}});
  return std::get<std::vector<std::uint8_t>>(x.inputs[0].values);
}

result<void> append_file(const std::filesystem::path& path, cifar_kind kind,
                         example_set& to, std::vector<std::int64_t>& coarse) {
  const auto bytes = read_file(path, errc::invalid_data);
  if (!bytes)
    return tl::unexpected{bytes.error()};
  return append_cifar(*bytes, kind, path.string(), to, coarse);
}

} // namespace

result<void> append_cifar(std::span<const std::byte> bytes, cifar_kind kind,
                          std::string_view origin, example_set& to,
                          std::vector<std::int64_t>& coarse) {
  const auto [labels, classes, coarse_classes] = format_of(kind);
  const auto record = labels + pixels;
  if (bytes.empty() || bytes.size() % record != 0)
    return fail_at(origin, "has " + std::to_string(bytes.size())
                             + " bytes; whole records of "
                             + std::to_string(record) + " would do");
  const auto count = bytes.size() / record;
  const auto label = [&](std::size_t i, std::size_t which) {
    return std::to_integer<std::int64_t>(bytes[i * record + which]);
  };
  const auto check = [&](std::size_t i, std::size_t which,
                         std::int64_t end) -> result<void> {
    if (label(i, which) < end)
      return {};
    return fail_at(origin, "label " + std::to_string(label(i, which))
                             + " of record " + std::to_string(i)
                             + " is out of range; 0 to "
                             + std::to_string(end - 1) + " would do");
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (auto ok = check(i, labels - 1, classes); !ok)
      return ok;
    if (labels == 2)
      if (auto ok = check(i, 0, coarse_classes); !ok)
        return ok;
  }
  auto& image = pixels_of(to);
  image.reserve(image.size() + count * pixels);
  for (std::size_t i = 0; i < count; ++i) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(
      bytes.subspan(i * record + labels, pixels).data());
    image.insert(image.end(), first, first + pixels);
    to.labels.push_back(label(i, labels - 1));
    if (labels == 2)
      coarse.push_back(label(i, 0));
  }
  to.size += count;
  return {};
}

result<dataset> read_cifar(const std::filesystem::path& folder,
                           cifar_kind kind) {
  const bool small = kind == cifar_kind::cifar10;
  dataset x;
  x.name = small ? "cifar-10" : "cifar-100";
  x.classes = format_of(kind).classes;
  std::vector<std::string> parts{"train.bin"};
  if (small)
    parts = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
             "data_batch_4.bin", "data_batch_5.bin"};
  for (const auto& part : parts)
    if (auto ok = append_file(folder / part, kind, x.train, x.partition_column);
        !ok)
      return tl::unexpected{ok.error()};
  std::vector<std::int64_t> ignored;
  if (auto ok = append_file(folder / (small ? "test_batch.bin" : "test.bin"),
                            kind, x.test, ignored);
      !ok)
    return tl::unexpected{ok.error()};
  return x;
}

} // namespace troupe::models
