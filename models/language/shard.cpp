#include "models/language/shard.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "core/json.hpp"
#include "core/limits.hpp"
#include "core/text.hpp"

static_assert(std::endian::native == std::endian::little,
              "values are taken as they lie in the file");

namespace troupe::models {

namespace {

constexpr const char* shard_metadata_key = "__metadata__";

/// What a header calls types. Of whole numbers there is no stored type.
struct named_type {
  std::string_view name;
  std::uint64_t bytes = 0;
  std::optional<stored_type> stored = {};
};

constexpr std::array named_types{
  named_type{.name = "F32", .bytes = 4, .stored = stored_type::f32},
  named_type{.name = "F16", .bytes = 2, .stored = stored_type::f16},
  named_type{.name = "BF16", .bytes = 2, .stored = stored_type::bf16},
  named_type{.name = "BOOL", .bytes = 1},
  named_type{.name = "I8", .bytes = 1},
  named_type{.name = "U8", .bytes = 1},
  named_type{.name = "I16", .bytes = 2},
  named_type{.name = "U16", .bytes = 2},
  named_type{.name = "I32", .bytes = 4},
  named_type{.name = "U32", .bytes = 4},
  named_type{.name = "I64", .bytes = 8},
  named_type{.name = "U64", .bytes = 8},
};

tl::unexpected<error> refuse_shard(std::string_view origin,
                                   const std::string& what) {
  return fail(errc::invalid_data, std::string{origin} + ": " + what);
}

/// A tensor and the bytes that it claims, from where values begin.
struct shard_claim {
  std::string name;
  std::vector<std::int64_t> shape;
  const named_type* type = nullptr;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// A list of whole numbers from 0; nothing where it is something else.
std::optional<std::vector<std::int64_t>> whole_numbers_in(const json* x) {
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

/// The bytes of so many values of this shape; nothing if they cannot be
/// counted.
std::optional<std::uint64_t> bytes_of(const shard_claim& x) {
  auto n = x.type->bytes;
  for (const auto extent : x.shape)
    if (__builtin_mul_overflow(n, static_cast<std::uint64_t>(extent), &n))
      return std::nullopt;
  return n;
}

result<shard_claim> parse_shard_claim(const std::string& name, const json& x,
                                      std::string_view origin) {
  const auto quoted = in_quotes(shortened(name));
  const auto* field = x.find("dtype");
  const auto* dtype = field ? field->text() : nullptr;
  if (dtype == nullptr)
    return refuse_shard(origin, quoted + " has no dtype; it is damaged");
  const auto type = std::ranges::find(named_types, *dtype, &named_type::name);
  if (type == named_types.end())
    return refuse_shard(origin,
                        quoted + " is of type " + printable(shortened(*dtype))
                          + ", which is not read here; F32, F16 or BF16 "
                            "would do");
  auto shape = whole_numbers_in(x.find("shape"));
  const auto offsets = whole_numbers_in(x.find("data_offsets"));
  if (!shape || !offsets || offsets->size() != 2)
    return refuse_shard(origin,
                        quoted
                          + " needs a shape and two data_offsets of whole "
                            "numbers from 0; it is damaged");
  shard_claim y{.name = name,
                .shape = std::move(*shape),
                .type = &*type,
                .begin = static_cast<std::uint64_t>(offsets->front()),
                .end = static_cast<std::uint64_t>(offsets->back())};
  if (y.shape.size() > limits::tensor_extents_max)
    return refuse_shard(
      origin, quoted + " has " + std::to_string(y.shape.size())
                + " extents; at most "
                + std::to_string(limits::tensor_extents_max) + " would do");
  const auto size = bytes_of(y);
  if (!size || y.end < y.begin || y.end - y.begin != *size)
    return refuse_shard(origin, quoted + " lies at bytes "
                                  + std::to_string(y.begin) + " to "
                                  + std::to_string(y.end)
                                  + ", which is not its size; it is damaged");
  return y;
}

/// The header's JSON, and its whole length with the eight bytes before it.
result<std::pair<json, std::size_t>>
parse_shard_header(std::span<const std::byte> bytes, std::string_view origin) {
  constexpr auto most = limits::weights_header_bytes_max;
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length)
    return refuse_shard(origin, "ends within its header; fetch the file again");
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > bytes.size() - sizeof length)
    return refuse_shard(origin,
                        "announces a header of " + std::to_string(length)
                          + " bytes, which cannot be there; it is damaged or "
                            "not a safetensors file");
  if (length > most)
    return refuse_shard(origin, "has a header of " + std::to_string(length)
                                  + " bytes, and at most "
                                  + std::to_string(most)
                                  + " are read; shards would do");
  const auto* text =
    reinterpret_cast<const char*>(bytes.data()) + sizeof length;
  auto x = json::parse({text, static_cast<std::size_t>(length)});
  if (!x || !x->fields())
    return refuse_shard(origin,
                        "its header is not a JSON object; it is damaged or "
                        "not a safetensors file");
  return std::pair{std::move(*x),
                   static_cast<std::size_t>(length) + sizeof length};
}

result<std::vector<shard_claim>> parse_shard_claims(const json& header,
                                                    std::string_view origin) {
  std::vector<shard_claim> claims;
  std::set<std::string_view> names;
  for (const auto& [name, x] : *header.fields()) {
    if (name == shard_metadata_key)
      continue;
    if (claims.size() == limits::language_tensors_max)
      return refuse_shard(
        origin, "has more than " + std::to_string(limits::language_tensors_max)
                  + " tensors; shards would do");
    if (!names.insert(name).second)
      return refuse_shard(origin,
                          in_quotes(shortened(name))
                            + " is there twice; a file that has it once "
                              "would do");
    auto y = parse_shard_claim(name, x, origin);
    if (!y)
      return tl::unexpected{std::move(y.error())};
    claims.push_back(std::move(*y));
  }
  std::ranges::sort(claims, {}, [](const shard_claim& x) {
    return std::pair{x.begin, x.end};
  });
  return claims;
}

/// Whether these fill so many bytes. @pre they are sorted by where they lie
result<void> check_shard_places(std::span<const shard_claim> claims,
                                std::uint64_t bytes, std::string_view origin) {
  std::uint64_t end = 0;
  for (const auto& y : claims) {
    if (y.begin != end)
      return refuse_shard(
        origin, in_quotes(shortened(y.name)) + " begins at byte "
                  + std::to_string(y.begin) + ", but the one before ends at "
                  + std::to_string(end)
                  + "; tensors must neither overlap nor leave "
                    "gaps");
    end = y.end;
  }
  if (end != bytes)
    return refuse_shard(origin,
                        "has " + std::to_string(bytes)
                          + " bytes of values, but its header announces "
                          + std::to_string(end) + "; fetch the file again");
  return {};
}

/// Of a folder that somebody got from elsewhere: no name leads out of it.
bool is_plain(const std::string& name) {
  return !name.empty() && name != "." && name != ".."
         && name.find_first_of(std::string_view{"/\0", 2}) == name.npos;
}

} // namespace

result<weights_shard> parse_shard(std::span<const std::byte> bytes,
                                  std::string_view origin) {
  const auto header = parse_shard_header(bytes, origin);
  if (!header)
    return tl::unexpected{header.error()};
  const auto values = bytes.subspan(header->second);
  auto claims = parse_shard_claims(header->first, origin);
  if (!claims)
    return tl::unexpected{std::move(claims.error())};
  if (const auto ok = check_shard_places(*claims, values.size(), origin); !ok)
    return tl::unexpected{ok.error()};
  weights_shard x;
  for (auto& y : *claims) {
    if (!y.type->stored) {
      x.left_out.push_back(std::move(y.name));
      continue;
    }
    x.tensors.push_back(
      {.name = std::move(y.name),
       .shape = std::move(y.shape),
       .type = *y.type->stored,
       .bytes = values.subspan(static_cast<std::size_t>(y.begin),
                               static_cast<std::size_t>(y.end - y.begin))});
  }
  return x;
}

result<std::map<std::string, std::string>>
parse_shard_index(std::string_view text, std::string_view origin) {
  const auto x = json::parse(text);
  const auto* map = x ? x->find("weight_map") : nullptr;
  const auto* fields = map ? map->fields() : nullptr;
  if (fields == nullptr)
    return refuse_shard(origin,
                        "it has no weight_map, an object; it is damaged, or "
                        "no index of shards");
  if (fields->size() > limits::language_tensors_max)
    return refuse_shard(
      origin, "has " + std::to_string(fields->size()) + " tensors, and at most "
                + std::to_string(limits::language_tensors_max) + " are read");
  std::map<std::string, std::string> shards;
  for (const auto& [name, said] : *fields) {
    const auto* shard = said.text();
    if (shard == nullptr || !is_plain(*shard))
      return refuse_shard(
        origin, in_quotes(shortened(name)) + " is in "
                  + (shard ? in_quotes(shortened(*shard)) : "what is no text")
                  + "; the name of a file beside the index would "
                    "do");
    if (!shards.emplace(name, *shard).second)
      return refuse_shard(origin,
                          in_quotes(shortened(name))
                            + " is there twice; an index that has it once "
                              "would do");
  }
  return shards;
}

} // namespace troupe::models
