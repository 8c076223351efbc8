#include "models/safetensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <set>
#include <system_error>
#include <utility>

#include "core/assert.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "models/files.hpp"
#include "models/layout.hpp"
#include "models/safetensors_header.hpp"

static_assert(std::endian::native == std::endian::little,
              "values are taken as they lie in the file");

namespace troupe::models {

namespace {

constexpr header_type floats_alone{.name = "F32", .bytes = sizeof(float)};
constexpr header_types types_of_weights{.all = {&floats_alone, 1},
                                        .would_do = "F32"};

tl::unexpected<error> lacks(const tensor_spec& x, const std::string& name,
                            std::string_view origin) {
  return fail_at(origin, "has no tensor " + in_quotes(name) + " of shape "
                           + shown_extents(x.shape)
                           + ", which the model needs");
}

tl::unexpected<error> is_otherwise(const std::vector<std::int64_t>& there,
                                   const tensor_spec& x,
                                   const std::string& name,
                                   std::string_view origin) {
  return fail_at(origin, "tensor " + in_quotes(name) + " has shape "
                           + shown_extents(there) + "; "
                           + shown_extents(x.shape) + " would do");
}

} // namespace

result<tensor_file> parse_safetensors(std::span<const std::byte> bytes,
                                      std::string_view origin) {
  auto parts = take_apart(bytes, types_of_weights, origin);
  if (!parts)
    return tl::unexpected{std::move(parts.error())};
  tensor_file x;
  for (auto& y : parts->header.claims)
    x.tensors.push_back(std::move(y.tensor));
  x.metadata = std::move(parts->header.metadata);
  const auto values = parts->values;
  x.values.resize(values.size() / sizeof(float));
  if (!values.empty())
    std::memcpy(x.values.data(), values.data(), values.size());
  return x;
}

result<tensor_file> read_safetensors(const std::filesystem::path& path) {
  const auto bytes = read_file(path, errc::invalid_data);
  if (!bytes)
    return tl::unexpected{bytes.error()};
  return parse_safetensors(*bytes, path.string());
}

result<void> write_safetensors(const std::filesystem::path& path,
                               const tensor_file& x) {
  TROUPE_ASSERT(x.values.size() == size_of(x.tensors));
  auto header = json::object();
  if (!x.metadata.empty())
    header.add(metadata_key, x.metadata);
  std::set<std::string_view> taken{metadata_key};
  std::size_t begin = 0;
  for (const auto& tensor : x.tensors) {
    if (!taken.insert(tensor.name).second)
      return fail(errc::invalid_argument,
                  path.string() + ": the name " + in_quotes(tensor.name)
                    + " is taken; tensors of one file need different names");
    const auto end = begin + tensor.size() * sizeof(float);
    header.add(tensor.name,
               {{"dtype", "F32"},
                {"shape", tensor.shape},
                {"data_offsets", std::vector<std::uint64_t>{begin, end}}});
    begin = end;
  }
  auto text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' '); // Values lie aligned.
  const std::uint64_t length = text.size();
  const std::array<std::span<const std::byte>, 3> parts{
    std::as_bytes(std::span{&length, 1}), std::as_bytes(std::span{text}),
    std::as_bytes(std::span{x.values})};
  return replace_file(path, parts, {.sync = false});
}

result<std::vector<float>> values_of(const tensor_file& x,
                                     const tensor_list& wanted,
                                     std::string_view origin) {
  std::map<std::string_view, std::pair<const tensor_spec*, std::size_t>> places;
  std::size_t begin = 0;
  for (const auto& tensor : x.tensors) {
    places.emplace(tensor.name, std::pair{&tensor, begin});
    begin += tensor.size();
  }
  std::vector<float> values;
  values.reserve(size_of(wanted));
  for (const auto& tensor : wanted) {
    const auto found = places.find(tensor.name);
    if (found == places.end())
      return lacks(tensor, tensor.name, origin);
    const auto& [there, at] = found->second;
    if (there->shape != tensor.shape)
      return is_otherwise(there->shape, tensor, tensor.name, origin);
    const auto first = x.values.begin() + static_cast<std::ptrdiff_t>(at);
    values.insert(values.end(), first,
                  first + static_cast<std::ptrdiff_t>(tensor.size()));
  }
  return values;
}

result<safetensors_file>
safetensors_file::open(const std::filesystem::path& path) {
  safetensors_file x;
  x.origin_ = path.string();
  std::error_code wrong;
  if (!std::filesystem::is_regular_file(path, wrong))
    return fail_at(x.origin_, "cannot be read: there is no such file; is the "
                              "path right?");
  const auto bytes = std::filesystem::file_size(path, wrong);
  x.in_.open(path, std::ios::binary);
  if (wrong || !x.in_)
    return fail_at(x.origin_, "cannot be opened; who may read it?");
  if (const auto ok = x.read_header(bytes); !ok)
    return tl::unexpected{ok.error()};
  return x;
}

result<void> safetensors_file::read_header(std::uint64_t bytes) {
  std::array<std::byte, header_text_at> first{};
  const auto there = std::span{first}.first(
    static_cast<std::size_t>(std::min<std::uint64_t>(bytes, first.size())));
  if (auto ok = read(0, there); !ok)
    return ok;
  const auto length = header_length(there, bytes, origin_);
  if (!length)
    return tl::unexpected{length.error()};
  std::string text(*length, ' ');
  if (auto ok = read(first.size(), std::as_writable_bytes(std::span{text}));
      !ok)
    return ok;
  const auto begin = first.size() + text.size();
  auto header = parse_header(text, bytes - begin, types_of_weights, origin_);
  if (!header)
    return tl::unexpected{std::move(header.error())};
  for (auto& y : header->claims)
    places_[y.tensor.name] = {std::move(y.tensor.shape), begin + y.begin};
  return {};
}

result<void> safetensors_file::read(std::uint64_t at, std::span<std::byte> to) {
  in_.seekg(static_cast<std::streamoff>(at));
  in_.read(reinterpret_cast<char*>(to.data()),
           static_cast<std::streamsize>(to.size()));
  if (!in_)
    return fail_at(origin_, "cannot be read any more from byte "
                              + std::to_string(at)
                              + " on; somebody may have changed it");
  return {};
}

std::vector<std::string> safetensors_file::names() const {
  std::vector<std::string> all;
  for (const auto& [name, place] : places_)
    all.push_back(name);
  return all;
}

result<std::vector<float>>
safetensors_file::values_of(const tensor_list& wanted,
                            std::string_view prefix) {
  std::vector<float> values(size_of(wanted));
  std::span<float> rest{values};
  for (const auto& tensor : wanted) {
    const auto name = std::string{prefix} + tensor.name;
    const auto found = places_.find(name);
    if (found == places_.end())
      return lacks(tensor, name, origin_);
    if (found->second.shape != tensor.shape)
      return is_otherwise(found->second.shape, tensor, name, origin_);
    const auto own = std::as_writable_bytes(rest.first(tensor.size()));
    if (auto ok = read(found->second.begin, own); !ok)
      return tl::unexpected{ok.error()};
    bytes_read_ += own.size();
    rest = rest.subspan(tensor.size());
  }
  return values;
}

} // namespace troupe::models
