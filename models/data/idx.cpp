#include "models/data/idx.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include <zlib.h>

#include "core/assert.hpp"
#include "core/limits.hpp"
#include "models/data/classes.hpp"
#include "models/files.hpp"

namespace troupe::models {

namespace {

constexpr std::size_t dimensions_max = 8;

/// Deflate makes at most this many bytes of one.
constexpr std::uint64_t expansion_max = 1032;

/// Reads on through bytes, or through what their gzip unpacks to.
class source {
public:
  explicit source(std::span<const std::byte> bytes) noexcept : rest_(bytes) {
    packed_ = bytes.size() >= 2 && bytes[0] == std::byte{0x1f}
              && bytes[1] == std::byte{0x8b};
    // 15 bits of window, and a gzip header. Fails only for want of memory.
    if (packed_)
      TROUPE_ASSERT(inflateInit2(&stream_, 15 + 16) == Z_OK);
  }

  source(const source&) = delete;
  source& operator=(const source&) = delete;

  ~source() {
    if (packed_)
      inflateEnd(&stream_);
  }

  bool packed() const noexcept {
    return packed_;
  }

  /// No more than this can follow.
  std::uint64_t size_max() const noexcept {
    return packed_ ? (rest_.size() + 1) * expansion_max : rest_.size();
  }

  /// Fills `out` as far as there is something. Less than all means: the end, or
  /// damage.
  std::size_t read(std::span<std::uint8_t> out) noexcept {
    if (packed_)
      return unpack(out);
    const auto n = std::min(out.size(), rest_.size());
    if (n > 0)
      std::memcpy(out.data(), rest_.data(), n);
    rest_ = rest_.subspan(n);
    return n;
  }

  /// Whether the end was reached and every checksum was right.
  bool at_end() noexcept {
    std::uint8_t more = 0;
    return read({&more, 1}) == 0 && rest_.empty() && (!packed_ || complete_);
  }

private:
  std::size_t unpack(std::span<std::uint8_t> out) noexcept {
    constexpr std::size_t step_max = 1u << 30; // zlib counts in 32 bits.
    std::size_t done = 0;
    bool stuck = false;
    while (!stuck && !complete_ && done < out.size()) {
      const auto in = std::min(rest_.size(), step_max);
      const auto want = std::min(out.size() - done, step_max);
      stream_.next_in = reinterpret_cast<Bytef*>(
        const_cast<std::byte*>(rest_.data())); // zlib does not write there.
      stream_.avail_in = static_cast<uInt>(in);
      stream_.next_out = out.data() + done;
      stream_.avail_out = static_cast<uInt>(want);
      const auto code = inflate(&stream_, Z_NO_FLUSH);
      rest_ = rest_.subspan(in - stream_.avail_in);
      const auto made = want - stream_.avail_out;
      done += made;
      complete_ = code == Z_STREAM_END;
      stuck = code != Z_OK || (made == 0 && stream_.avail_in == in);
    }
    return done;
  }

  std::span<const std::byte> rest_;
  z_stream stream_{};
  bool packed_ = false;
  bool complete_ = false;
};

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const auto x : bytes) {
    std::array<char, 4> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", x);
    text += (text.empty() ? "" : " ") + std::string{digits.data()};
  }
  return text;
}

/// Extents and their product, in bytes.
result<std::vector<std::int64_t>>
read_shape(source& from, std::size_t dimensions, std::string_view origin) {
  std::vector<std::int64_t> shape;
  for (std::size_t i = 0; i < dimensions; ++i) {
    std::array<std::uint8_t, 4> x{};
    if (from.read(x) < x.size())
      return fail_at(origin, "ends within its header; fetch the file again");
    shape.push_back(std::int64_t{x[0]} << 24 | std::int64_t{x[1]} << 16
                    | std::int64_t{x[2]} << 8 | std::int64_t{x[3]});
  }
  return shape;
}

/// The product of extents below 2^32, or the largest number if it is too large.
std::uint64_t product(const std::vector<std::int64_t>& shape) noexcept {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return 0;
  std::uint64_t n = 1;
  for (const auto x : shape) {
    if (n > most / static_cast<std::uint64_t>(x))
      return most;
    n *= static_cast<std::uint64_t>(x);
  }
  return n;
}

/// Takes room as it is filled: what is packed may claim a thousand times what
/// it has. Returns how many there were.
std::uint64_t read_values(source& from, std::uint64_t size,
                          std::vector<std::uint8_t>& to) {
  constexpr std::uint64_t at_first = 1 << 20;
  const auto first = from.packed() ? std::min(size, at_first) : size;
  for (std::uint64_t have = 0, room = first;; room = std::min(size, 2 * room)) {
    to.resize(static_cast<std::size_t>(room));
    have += from.read(std::span{to}.subspan(static_cast<std::size_t>(have)));
    if (have < room || room == size)
      return have;
  }
}

result<idx_tensor> read_part(const std::filesystem::path& folder,
                             const char* name, std::size_t dimensions) {
  const auto plain = folder / name;
  auto packed = plain;
  packed += ".gz";
  std::error_code ignored;
  const bool there = std::filesystem::exists(plain, ignored);
  if (!there && !std::filesystem::exists(packed, ignored))
    return fail_at(plain.string(),
                   "neither this file nor the same with .gz is "
                   "there; the folder needs train-images-idx3-ubyte,"
                   " train-labels-idx1-ubyte, t10k-images-idx3-ubyte"
                   " and t10k-labels-idx1-ubyte");
  const auto& path = there ? plain : packed;
  auto x = read_idx(path);
  if (x && x->shape.size() != dimensions)
    return fail_at(path.string(), "has " + std::to_string(x->shape.size())
                                    + " dimensions; "
                                    + std::to_string(dimensions) + " would do");
  return x;
}

/// One of the two example sets. `prefix` is `train` or `t10k`.
result<example_set> read_set(const std::filesystem::path& folder,
                             const std::string& prefix) {
  const auto images_name = prefix + "-images-idx3-ubyte";
  const auto labels_name = prefix + "-labels-idx1-ubyte";
  auto images = read_part(folder, images_name.c_str(), 3);
  if (!images)
    return tl::unexpected{images.error()};
  auto labels = read_part(folder, labels_name.c_str(), 1);
  if (!labels)
    return tl::unexpected{labels.error()};
  const auto count = images->shape[0];
  if (labels->shape[0] != count)
    return fail_at(folder.string(), images_name + " holds "
                                      + std::to_string(count) + " images and "
                                      + labels_name + " "
                                      + std::to_string(labels->shape[0])
                                      + " labels; as many of both would do");
  if (images->values.empty())
    return fail_at((folder / images_name).string(),
                   "holds no pixels; at least one image would do");
  example_set set;
  set.size = static_cast<std::size_t>(count);
  set.labels.assign(labels->values.begin(), labels->values.end());
  set.inputs.push_back({.name = "image",
                        .shape = {1, images->shape[1], images->shape[2]},
                        .values = std::move(images->values)});
  return set;
}

} // namespace

result<idx_tensor> parse_idx(std::span<const std::byte> bytes,
                             std::string_view origin) {
  source from{bytes};
  std::array<std::uint8_t, 4> magic{};
  const auto have = from.read(magic);
  if (have < magic.size())
    return fail_at(origin, "ends within its header; fetch the file again");
  if (magic[0] != 0 || magic[1] != 0 || magic[3] == 0
      || magic[3] > dimensions_max)
    return fail_at(origin, "begins with " + hex(magic)
                             + ", which is not IDX; 00 00 08 and the number of "
                               "dimensions would do");
  if (magic[2] != 0x08)
    return fail_at(origin, "holds elements of type " + hex({&magic[2], 1})
                             + "; unsigned bytes (08) would do");
  auto shape = read_shape(from, magic[3], origin);
  if (!shape)
    return tl::unexpected{shape.error()};
  const auto size = product(*shape);
  const auto announced =
    std::to_string(size) + " bytes that its header announces";
  if (size > from.size_max())
    return fail_at(origin,
                   "cannot hold the " + announced + "; fetch the file again");
  if (size > limits::file_bytes_max)
    return fail_at(origin, "holds more than the "
                             + std::to_string(limits::file_bytes_max)
                             + " bytes that are read of a file");
  idx_tensor x{.shape = std::move(*shape), .values = {}};
  if (const auto n = read_values(from, size, x.values); n < size)
    return fail_at(origin, "is damaged or ends after " + std::to_string(n)
                             + " of the " + announced
                             + "; fetch the file again");
  if (!from.at_end())
    return fail_at(origin,
                   (from.packed() ? "fails its checksum or goes on after the "
                                  : "goes on after the ")
                     + announced + "; fetch the file again");
  return x;
}

result<idx_tensor> read_idx(const std::filesystem::path& path) {
  const auto bytes = read_file(path, errc::invalid_data);
  if (!bytes)
    return tl::unexpected{bytes.error()};
  return parse_idx(*bytes, path.string());
}

result<dataset> read_idx_folder(const std::filesystem::path& folder,
                                std::int64_t classes) {
  auto train = read_set(folder, "train");
  if (!train)
    return tl::unexpected{train.error()};
  auto test = read_set(folder, "t10k");
  if (!test)
    return tl::unexpected{test.error()};
  if (train->inputs[0].shape != test->inputs[0].shape)
    return fail_at(folder.string(),
                   "the images of the two sets differ in size; the "
                   "files belong to different data");
  const auto counted = count_classes(
    train->labels, classes, (folder / "train-labels-idx1-ubyte").string());
  if (!counted)
    return tl::unexpected{counted.error()};
  for (std::size_t i = 0; i < test->size; ++i)
    if (test->labels[i] >= *counted)
      return fail_at((folder / "t10k-labels-idx1-ubyte").string(),
                     "label " + std::to_string(test->labels[i]) + " of example "
                       + std::to_string(i) + " is out of range; 0 to "
                       + std::to_string(*counted - 1) + " would do");
  return dataset{.name = folder.filename().string(),
                 .train = std::move(*train),
                 .test = std::move(*test),
                 .classes = *counted};
}

} // namespace troupe::models
