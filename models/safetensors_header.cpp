#include "models/safetensors_header.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "core/json.hpp"
#include "core/limits.hpp"
#include "core/text.hpp"
#include "models/files.hpp"
#include "models/layout.hpp"

static_assert(std::endian::native == std::endian::little,
              "numbers are taken as they lie in the file");

namespace troupe::models {

namespace {

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

/// The bytes of a tensor whose values have `each`; nothing if they cannot be
/// counted.
std::optional<std::uint64_t> claimed_bytes(const tensor_spec& x,
                                           std::uint64_t each) {
  for (const auto extent : x.shape)
    if (__builtin_mul_overflow(each, static_cast<std::uint64_t>(extent), &each))
      return std::nullopt;
  return each;
}

result<header_claim> parse_claim(const std::string& name, const json& x,
                                 const header_types& types,
                                 std::string_view origin) {
  const auto refuse = [&](const std::string& what) {
    return fail_at(origin, in_quotes(shortened(name)) + " " + what);
  };
  const auto* field = x.find("dtype");
  const auto* dtype = field ? field->text() : nullptr;
  if (dtype == nullptr)
    return refuse("has no dtype; it is damaged");
  const auto type = std::ranges::find(types.all, *dtype, &header_type::name);
  if (type == types.all.end())
    return refuse("is of type " + printable(shortened(*dtype))
                  + ", which is not read here; " + std::string{types.would_do}
                  + " would do");
  auto shape = whole_numbers_in(x.find("shape"));
  const auto offsets = whole_numbers_in(x.find("data_offsets"));
  if (!shape || !offsets || offsets->size() != 2)
    return refuse("needs a shape and two data_offsets of whole numbers from 0; "
                  "it is damaged");
  header_claim y{.tensor = {.name = name, .shape = std::move(*shape)},
                 .type = static_cast<std::size_t>(type - types.all.begin()),
                 .begin = static_cast<std::uint64_t>(offsets->front()),
                 .end = static_cast<std::uint64_t>(offsets->back())};
  const auto size = claimed_bytes(y.tensor, type->bytes);
  if (!size || y.end < y.begin || y.end - y.begin != *size)
    return refuse("of shape " + shortened(shown_extents(y.tensor.shape))
                  + " lies at bytes " + std::to_string(y.begin) + " to "
                  + std::to_string(y.end)
                  + ", which is not its size; it is damaged");
  return y;
}

result<safetensors_header> parse_claims(const json& x,
                                        const header_types& types,
                                        std::string_view origin) {
  safetensors_header to;
  std::set<std::string_view> names;
  for (const auto& [name, said] : *x.fields()) {
    if (name == metadata_key) {
      if (const auto* all = said.fields())
        for (const auto& [key, value] : *all)
          if (const auto* text = value.text())
            to.metadata[key] = *text;
      continue;
    }
    if (!names.insert(name).second)
      return fail_at(origin, in_quotes(shortened(name))
                               + " is there twice; a file that has it once "
                                 "would do");
    auto y = parse_claim(name, said, types, origin);
    if (!y)
      return tl::unexpected{std::move(y.error())};
    to.claims.push_back(std::move(*y));
  }
  std::ranges::sort(to.claims, {}, [](const header_claim& y) {
    return std::pair{y.begin, y.end};
  });
  return to;
}

/// Whether these fill so many bytes. @pre they are sorted by where they lie
result<void> check_filled(std::span<const header_claim> claims,
                          std::uint64_t bytes, std::string_view origin) {
  std::uint64_t end = 0;
  for (const auto& y : claims) {
    if (y.begin != end)
      return fail_at(origin, in_quotes(shortened(y.tensor.name))
                               + " begins at byte " + std::to_string(y.begin)
                               + ", but the one before ends at "
                               + std::to_string(end)
                               + "; tensors must neither overlap nor leave "
                                 "gaps");
    end = y.end;
  }
  if (end != bytes)
    return fail_at(origin, "has " + std::to_string(bytes)
                             + " bytes of values, but its header announces "
                             + std::to_string(end) + "; fetch the file again");
  return {};
}

} // namespace

result<std::size_t> header_length(std::span<const std::byte> first,
                                  std::uint64_t file_bytes,
                                  std::string_view origin) {
  constexpr auto most = limits::weights_header_bytes_max;
  std::uint64_t length = 0;
  if (first.size() < header_text_at)
    return fail_at(origin, "ends within its header; fetch the file again");
  std::memcpy(&length, first.data(), header_text_at);
  if (length > file_bytes - header_text_at)
    return fail_at(origin,
                   "announces a header of " + std::to_string(length)
                     + " bytes behind its first 8, and the file has "
                     + std::to_string(file_bytes)
                     + "; it is cut off, or not a safetensors file: fetch the "
                       "file again");
  if (length > most)
    return fail_at(origin, "has a header of " + std::to_string(length)
                             + " bytes, and at most " + std::to_string(most)
                             + " are read; fewer tensors in a file would do");
  return static_cast<std::size_t>(length);
}

result<safetensors_header> parse_header(std::string_view text,
                                        std::uint64_t value_bytes,
                                        const header_types& types,
                                        std::string_view origin) {
  const auto x = json::parse(text);
  if (!x || !x->fields())
    return fail_at(origin,
                   "its header is not a JSON object; it is damaged or not a "
                   "safetensors file");
  auto header = parse_claims(*x, types, origin);
  if (!header)
    return header;
  if (auto ok = check_filled(header->claims, value_bytes, origin); !ok)
    return tl::unexpected{std::move(ok.error())};
  return header;
}

result<safetensors_parts> take_apart(std::span<const std::byte> bytes,
                                     const header_types& types,
                                     std::string_view origin) {
  const auto length = header_length(bytes, bytes.size(), origin);
  if (!length)
    return tl::unexpected{length.error()};
  const auto said = bytes.subspan(header_text_at, *length);
  const auto values = bytes.subspan(header_text_at + *length);
  const std::string_view text{reinterpret_cast<const char*>(said.data()),
                              said.size()};
  return parse_header(text, values.size(), types, origin)
    .map([&](safetensors_header x) {
      return safetensors_parts{std::move(x), values};
    });
}

} // namespace troupe::models
