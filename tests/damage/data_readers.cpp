// Data and weights. Where a format has no redundancy, a flipped digit is
// another file: what is accepted must then be data that can be trained on.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <utility>

#include <zlib.h>

#include "core/assert.hpp"
#include "models/data/cifar.hpp"
#include "models/data/csv.hpp"
#include "models/data/idx.hpp"
#include "models/safetensors.hpp"
#include "tests/damage/reader.hpp"

namespace troupe::damage {

namespace {

using models::csv_options;

std::span<const std::byte> bytes_of(const std::string& x) {
  return std::as_bytes(std::span{x});
}

verdict judged(bool holds) {
  return holds ? verdict::accepted : verdict::wrong;
}

// -- CSV ------------------------------------------------------------------

std::string some_csv() {
  std::string text = "a,b,\"the, third\",y,who\n";
  for (int i = 0; i < 40; ++i)
    text += std::to_string(i) + ",-" + std::to_string(i * 0.37) + ",1e-3,"
            + std::to_string(i % 10) + (i % 3 ? ",me\n" : ",\"you\"\r\n");
  return text;
}

verdict read_csv(const std::string& bytes) {
  const csv_options opts{.label = "y", .partition = "who", .classes = 10};
  const auto x = models::parse_csv(bytes, "input", opts);
  if (!x)
    return verdict::refused;
  const auto& e = x->examples;
  const auto& values = std::get<std::vector<float>>(e.inputs.at(0).values);
  return judged(
    e.size > 0 && e.labels.size() == e.size && x->partition.size() == e.size
    && values.size() == e.size * x->features.size()
    && std::ranges::all_of(values, [](float v) { return std::isfinite(v); })
    && std::ranges::all_of(e.labels, [](auto v) { return v >= 0 && v < 10; }));
}

// -- IDX and gzip ---------------------------------------------------------

std::string some_idx() {
  std::string x{'\0', '\0', '\x08', '\x03', '\0', '\0', '\0', '\x14',
                '\0', '\0', '\0',   '\x07', '\0', '\0', '\0', '\x07'};
  for (int i = 0; i < 20 * 7 * 7; ++i)
    x.push_back(static_cast<char>(i % 251));
  return x;
}

std::string packed(const std::string& x) {
  z_stream stream{};
  TROUPE_ASSERT(
    deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY)
    == Z_OK);
  std::string out(deflateBound(&stream, x.size()) + 64, '\0');
  stream.next_in =
    reinterpret_cast<Bytef*>(const_cast<char*>(x.data())); // Not written to.
  stream.avail_in = static_cast<uInt>(x.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  TROUPE_ASSERT(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

verdict read_idx(const std::string& bytes) {
  const auto x = models::parse_idx(bytes_of(bytes), "input");
  if (!x)
    return verdict::refused;
  std::size_t size = 1;
  for (const auto n : x->shape)
    size *= static_cast<std::size_t>(n);
  return judged(size == x->values.size());
}

// Its checksum is over all that comes out.
verdict read_gzip(const std::string& bytes) {
  static const auto whole = models::parse_idx(bytes_of(some_idx()), "").value();
  const auto x = models::parse_idx(bytes_of(bytes), "input");
  if (!x)
    return verdict::refused;
  return judged(x->shape == whole.shape && x->values == whole.values);
}

// -- CIFAR ------------------------------------------------------------------

std::string some_cifar() {
  std::string x;
  for (int i = 0; i < 3; ++i) {
    x.push_back(static_cast<char>(i));
    x.append(3072, static_cast<char>(17 * i));
  }
  return x;
}

verdict read_cifar(const std::string& bytes) {
  models::example_set x;
  std::vector<std::int64_t> coarse;
  if (!models::append_cifar(bytes_of(bytes), models::cifar_kind::cifar10,
                            "input", x, coarse))
    return verdict::refused;
  const auto& pixels =
    std::get<std::vector<std::uint8_t>>(x.inputs.at(0).values);
  return judged(
    x.labels.size() == x.size && pixels.size() == x.size * 3072
    && std::ranges::all_of(x.labels, [](auto v) { return v >= 0 && v < 10; }));
}

// -- weights ----------------------------------------------------------------

std::string some_weights() {
  std::string header =
    R"({"__metadata__":{"made":"by hand"},"one":{"dtype":"F32","shape":[2,3],)"
    R"("data_offsets":[0,24]},"two":{"dtype":"F32","shape":[4],)"
    R"("data_offsets":[24,40]}})";
  const std::uint64_t size = header.size();
  std::string x(sizeof size, '\0');
  std::memcpy(x.data(), &size, sizeof size);
  return x + header + std::string(40, '\x3f');
}

verdict read_weights(const std::string& bytes) {
  const auto x = models::parse_safetensors(bytes_of(bytes), "input");
  if (!x)
    return verdict::refused;
  const auto all = models::values_of(*x, x->tensors, "input");
  return judged(x->values.size() == models::size_of(x->tensors) && all
                && all->size() == x->values.size());
}

} // namespace

std::vector<reader> data_readers() {
  return {
    {.name = "CSV",
     .counts_as_wrong = "a number that is not finite, a label out of range, "
                        "rows that do not fit the columns",
     .originals = {some_csv()},
     .read = read_csv},
    {.name = "IDX",
     .counts_as_wrong = "other than as many bytes as the header says",
     .text = false,
     .originals = {some_idx()},
     .read = read_idx},
    {.name = "gzip",
     .counts_as_wrong = "any other byte",
     .text = false,
     .originals = {packed(some_idx())},
     .read = read_gzip},
    {.name = "CIFAR",
     .counts_as_wrong = "a label out of range, half an image",
     .text = false,
     .originals = {some_cifar()},
     .read = read_cifar},
    {.name = "safetensors",
     .counts_as_wrong = "other than as many values as shapes say",
     .text = false,
     .originals = {some_weights()},
     .read = read_weights},
  };
}

} // namespace troupe::damage
