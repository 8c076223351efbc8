#include "models/safetensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "core/assert.hpp"
#include "core/json.hpp"
#include "core/limits.hpp"
#include "core/text.hpp"
#include "models/files.hpp"

static_assert(std::endian::native == std::endian::little,
              "values are taken as they lie in the file");

namespace troupe::models {

namespace {

constexpr const char* metadata_key = "__metadata__";

/// A tensor and the bytes that it claims.
struct claim {
  tensor_spec tensor;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// A list of whole numbers from 0; nothing where it is something else.
std::optional<std::vector<std::int64_t>> counts_in(const json* x) {
  const auto* found = x ? x->items() : nullptr;
  if (found == nullptr)
    return std::nullopt;
  std::vector<std::int64_t> all;
  for (const auto& y : *found) {
    const auto n = y.count();
    if (!n || *n > std::numeric_limits<std::int64_t>::max())
      return std::nullopt;
    all.push_back(static_cast<std::int64_t>(*n));
  }
  return all;
}

/// The bytes of a tensor of f32 of this shape; nothing if they cannot be
/// counted.
std::optional<std::uint64_t> bytes_of(const std::vector<std::int64_t>& shape) {
  std::uint64_t n = sizeof(float);
  for (const auto extent : shape)
    if (__builtin_mul_overflow(n, static_cast<std::uint64_t>(extent), &n))
      return std::nullopt;
  return n;
}

std::string shown(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const auto extent : shape)
    text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "[" + text + "]";
}

result<claim> parse_claim(const std::string& name, const json& x,
                          std::string_view origin) {
  const auto refuse = [&](const std::string& what) {
    return fail_at(origin, "tensor " + in_quotes(name) + " " + what);
  };
  const auto* field = x.find("dtype");
  const auto* dtype = field ? field->text() : nullptr;
  if (dtype == nullptr)
    return refuse("has no dtype");
  if (*dtype != "F32")
    return refuse("is " + printable(*dtype) + "; F32 would do");
  auto shape = counts_in(x.find("shape"));
  const auto offsets = counts_in(x.find("data_offsets"));
  if (!shape || !offsets || offsets->size() != 2)
    return refuse("needs a shape and two data_offsets of integers from 0");
  claim y{.tensor = {.name = name, .shape = std::move(*shape)},
          .begin = static_cast<std::uint64_t>(offsets->front()),
          .end = static_cast<std::uint64_t>(offsets->back())};
  const auto size = bytes_of(y.tensor.shape);
  if (!size || y.end < y.begin || y.end - y.begin != *size)
    return refuse("of shape " + shown(y.tensor.shape) + " lies at bytes "
                  + std::to_string(y.begin) + " to " + std::to_string(y.end)
                  + ", which is not its size");
  return y;
}

/// What a file of so many bytes may say of its header's length.
result<void> check_length(std::uint64_t length, std::uint64_t bytes,
                          std::string_view origin) {
  constexpr auto most = limits::weights_header_bytes_max;
  if (length > bytes - sizeof length)
    return fail_at(origin,
                   "announces a header of " + std::to_string(length)
                     + " bytes, which cannot be there; it is damaged or not "
                       "a safetensors file");
  if (length > most)
    return fail_at(origin, "has a header of " + std::to_string(length)
                             + " bytes, and at most " + std::to_string(most)
                             + " are read; fewer tensors would do");
  return {};
}

result<json> parse_header(std::string_view text, std::string_view origin) {
  auto x = json::parse(text);
  if (!x || !x->fields())
    return fail_at(origin,
                   "its header is not a JSON object; it is damaged or not a "
                   "safetensors file");
  return x;
}

/// The header's JSON, and its whole length with the eight bytes before it.
result<std::pair<json, std::size_t>>
parse_header(std::span<const std::byte> bytes, std::string_view origin) {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length)
    return fail_at(origin, "ends within its header; fetch the file again");
  std::memcpy(&length, bytes.data(), sizeof length);
  if (const auto ok = check_length(length, bytes.size(), origin); !ok)
    return tl::unexpected{ok.error()};
  const auto* text =
    reinterpret_cast<const char*>(bytes.data()) + sizeof length;
  const std::string_view own{text, static_cast<std::size_t>(length)};
  return parse_header(own, origin).map([&](json x) {
    return std::pair{std::move(x), own.size() + sizeof length};
  });
}

result<std::vector<claim>>
parse_claims(const json& header, std::string_view origin, tensor_file& to) {
  std::vector<claim> claims;
  std::set<std::string_view> names;
  for (const auto& [name, x] : *header.fields()) {
    if (name == metadata_key) {
      if (const auto* said = x.fields())
        for (const auto& [key, value] : *said)
          if (const auto* text = value.text())
            to.metadata[key] = *text;
      continue;
    }
    if (!names.insert(name).second)
      return fail_at(origin, "has two tensors of the name " + in_quotes(name));
    auto y = parse_claim(name, x, origin);
    if (!y)
      return tl::unexpected{y.error()};
    claims.push_back(std::move(*y));
  }
  std::sort(claims.begin(), claims.end(), [](const claim& a, const claim& b) {
    return std::pair{a.begin, a.end} < std::pair{b.begin, b.end};
  });
  return claims;
}

/// Whether these fill so many bytes. @pre they are sorted by where they lie
result<void> check_places(std::span<const claim> claims, std::uint64_t bytes,
                          std::string_view origin) {
  std::uint64_t end = 0;
  for (const auto& y : claims) {
    if (y.begin != end)
      return fail_at(origin,
                     "tensor " + in_quotes(y.tensor.name) + " begins at byte "
                       + std::to_string(y.begin) + ", but the one before ends "
                       + "at " + std::to_string(end)
                       + "; tensors must neither overlap nor leave gaps");
    end = y.end;
  }
  if (end != bytes)
    return fail_at(origin, "has " + std::to_string(bytes)
                             + " bytes of values, but its header announces "
                             + std::to_string(end) + "; fetch the file again");
  return {};
}

tl::unexpected<error> lacks(const tensor_spec& x, const std::string& name,
                            std::string_view origin) {
  return fail_at(origin, "has no tensor " + in_quotes(name) + " of shape "
                           + shown(x.shape) + ", which the model needs");
}

tl::unexpected<error> is_otherwise(const std::vector<std::int64_t>& there,
                                   const tensor_spec& x,
                                   const std::string& name,
                                   std::string_view origin) {
  return fail_at(origin, "tensor " + in_quotes(name) + " has shape "
                           + shown(there) + "; " + shown(x.shape)
                           + " would do");
}

} // namespace

result<tensor_file> parse_safetensors(std::span<const std::byte> bytes,
                                      std::string_view origin) {
  const auto header = parse_header(bytes, origin);
  if (!header)
    return tl::unexpected{header.error()};
  const auto payload = bytes.subspan(header->second);
  tensor_file x;
  auto claims = parse_claims(header->first, origin, x);
  if (!claims)
    return tl::unexpected{claims.error()};
  if (const auto ok = check_places(*claims, payload.size(), origin); !ok)
    return tl::unexpected{ok.error()};
  for (auto& y : *claims)
    x.tensors.push_back(std::move(y.tensor));
  x.values.resize(payload.size() / sizeof(float));
  if (!payload.empty())
    std::memcpy(x.values.data(), payload.data(), payload.size());
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
  std::uint64_t length = 0;
  if (bytes < sizeof length)
    return fail_at(origin_, "ends within its header; fetch the file again");
  if (auto ok = read(0, std::as_writable_bytes(std::span{&length, 1})); !ok)
    return ok;
  if (auto ok = check_length(length, bytes, origin_); !ok)
    return ok;
  std::string text(static_cast<std::size_t>(length), ' ');
  if (auto ok = read(sizeof length, std::as_writable_bytes(std::span{text}));
      !ok)
    return ok;
  const auto header = parse_header(std::string_view{text}, origin_);
  if (!header)
    return tl::unexpected{header.error()};
  tensor_file names; // Of which the metadata are of no use here.
  auto claims = parse_claims(*header, origin_, names);
  if (!claims)
    return tl::unexpected{claims.error()};
  const auto first = sizeof length + length;
  if (auto ok = check_places(*claims, bytes - first, origin_); !ok)
    return ok;
  for (auto& y : *claims)
    places_[y.tensor.name] = {std::move(y.tensor.shape), first + y.begin};
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
