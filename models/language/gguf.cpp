#include "models/language/gguf.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <set>
#include <utility>

#include "core/limits.hpp"
#include "core/text.hpp"
#include "models/language/gguf_reader.hpp"
#include "models/layout.hpp"

static_assert(std::endian::native == std::endian::little,
              "numbers are taken as they lie in the file");

namespace troupe::models {

namespace {

constexpr std::uint64_t extents_max = 4; ///< Of one tensor.
constexpr std::uint64_t usual_alignment = 32;
constexpr const char* alignment_key = "general.alignment";

/// A type of tensors, by its number in the file. Of whole numbers there is no
/// stored type, and of others that are not read not even a size.
struct file_type {
  std::uint32_t number = 0;
  std::optional<stored_type> stored = {};
  std::uint64_t bytes = 0; ///< Of a whole number.
  std::string_view name = {};
};

constexpr std::array known_types{
  file_type{.number = 0, .stored = stored_type::f32},
  file_type{.number = 1, .stored = stored_type::f16},
  file_type{.number = 2, .stored = stored_type::q4_0},
  file_type{.number = 3, .stored = stored_type::q4_1},
  file_type{.number = 6, .stored = stored_type::q5_0},
  file_type{.number = 7, .stored = stored_type::q5_1},
  file_type{.number = 8, .stored = stored_type::q8_0},
  file_type{.number = 9, .name = "Q8_1"},
  file_type{.number = 10, .name = "Q2_K"},
  file_type{.number = 11, .name = "Q3_K"},
  file_type{.number = 12, .stored = stored_type::q4_k},
  file_type{.number = 13, .stored = stored_type::q5_k},
  file_type{.number = 14, .stored = stored_type::q6_k},
  file_type{.number = 15, .name = "Q8_K"},
  file_type{.number = 20, .name = "IQ4_NL"},
  file_type{.number = 23, .name = "IQ4_XS"},
  file_type{.number = 24, .bytes = 1},
  file_type{.number = 25, .bytes = 2},
  file_type{.number = 26, .bytes = 4},
  file_type{.number = 27, .bytes = 8},
  file_type{.number = 28, .name = "F64"},
  file_type{.number = 30, .stored = stored_type::bf16},
};

file_type type_numbered(std::uint32_t number) {
  const auto found = std::ranges::find(known_types, number, &file_type::number);
  return found == known_types.end() ? file_type{.number = number} : *found;
}

/// What a tensor of this type says, where it is not read.
std::string shown(const file_type& x) {
  return x.name.empty() ? "number " + std::to_string(x.number)
                        : std::string{x.name};
}

/// A tensor as the header says it, before anybody knows where values begin.
struct gguf_claim {
  std::string_view name = {};
  std::vector<std::int64_t> shape = {}; ///< Outermost first.
  file_type type = {};
  std::uint64_t offset = 0; ///< From where values begin.
  std::uint64_t bytes = 0;
  std::uint64_t said_at = 0;
};

std::uint64_t block_values(const file_type& x) {
  return x.stored ? facts_of(*x.stored).block_values : 1;
}

/// A quantised row is of whole blocks.
bool has_whole_blocks(const gguf_claim& x) {
  return x.shape.empty()
           ? block_values(x.type) == 1
           : static_cast<std::uint64_t>(x.shape.back()) % block_values(x.type)
               == 0;
}

/// The bytes of its values; nothing if they cannot be counted. @pre of whole
/// blocks
std::optional<std::uint64_t> bytes_of(const gguf_claim& x) {
  std::uint64_t bytes = 1;
  for (const auto extent : x.shape)
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent),
                               &bytes))
      return std::nullopt;
  const std::uint64_t each =
    x.type.stored ? facts_of(*x.type.stored).block_bytes : x.type.bytes;
  if (__builtin_mul_overflow(bytes / block_values(x.type), each, &bytes))
    return std::nullopt;
  return bytes;
}

gguf_claim take_claim(header_reader& in) {
  gguf_claim x{.said_at = in.at()};
  x.name = in.text();
  const auto name = in_quotes(shortened(x.name));
  const auto extents = in.number<std::uint32_t>();
  if (extents > extents_max) {
    in.refuse_at(x.said_at, name + " has " + std::to_string(extents)
                              + " extents; at most "
                              + std::to_string(extents_max) + " would do");
    return x;
  }
  bool countable = true;
  for (std::uint32_t i = 0; i < extents; ++i) {
    const auto extent = in.number<std::uint64_t>();
    countable &= std::in_range<std::int64_t>(extent);
    x.shape.push_back(static_cast<std::int64_t>(extent));
  }
  std::ranges::reverse(x.shape);
  x.type = type_numbered(in.number<std::uint32_t>());
  x.offset = in.number<std::uint64_t>();
  if (in.wrong())
    return x;
  if (!x.type.stored && x.type.bytes == 0) {
    in.refuse_at(x.said_at, name + " is of type " + shown(x.type)
                              + ", which is not read here; F16, Q8_0, Q4_K or "
                                "the like would do");
    return x;
  }
  if (countable && !has_whole_blocks(x)) {
    in.refuse_at(x.said_at, name + " of shape " + shown_extents(x.shape)
                              + " is of type "
                              + std::string{facts_of(*x.type.stored).name}
                              + ", whose rows have a multiple of "
                              + std::to_string(block_values(x.type))
                              + " values; it is damaged");
    return x;
  }
  if (const auto bytes = countable ? bytes_of(x) : std::nullopt)
    x.bytes = *bytes;
  else
    in.refuse_at(x.said_at, name
                              + " has more values than can be counted; it "
                                "is damaged");
  return x;
}

std::vector<gguf_claim> take_claims(header_reader& in, std::uint64_t count) {
  std::vector<gguf_claim> all;
  std::set<std::string_view> names;
  for (; count > 0 && !in.wrong(); --count) {
    auto x = take_claim(in);
    if (!names.insert(x.name).second)
      in.refuse_at(x.said_at,
                   in_quotes(shortened(x.name))
                     + " is there twice; a file that has it once would do");
    all.push_back(std::move(x));
  }
  return all;
}

std::uint64_t alignment_of(const gguf_header& x, header_reader& in) {
  const auto found = x.values.find(alignment_key);
  if (found == x.values.end())
    return usual_alignment;
  const auto* said = std::get_if<std::uint64_t>(&found->second);
  if (said != nullptr && std::has_single_bit(*said)
      && *said <= std::numeric_limits<std::uint32_t>::max())
    return *said;
  in.refuse(std::string{alignment_key} + " is "
            + (said ? std::to_string(*said) : "no whole number from 0")
            + "; a power of two, such as 32, would do");
  return usual_alignment;
}

/// Where values begin: all lie within the file, and none over another.
std::uint64_t check_places(header_reader& in,
                           const std::vector<gguf_claim>& claims,
                           std::uint64_t alignment) {
  const auto begin = (in.at() + alignment - 1) / alignment * alignment;
  std::vector<const gguf_claim*> by_place;
  for (const auto& x : claims) {
    const auto name = in_quotes(shortened(x.name));
    if (x.offset % alignment != 0)
      in.refuse_at(x.said_at, name + " begins " + std::to_string(x.offset)
                                + " bytes after the first, and tensors begin "
                                  "at multiples of "
                                + std::to_string(alignment)
                                + "; it is damaged");
    else if (begin > in.size() || x.offset > in.size() - begin
             || x.bytes > in.size() - begin - x.offset)
      in.refuse_at(x.said_at,
                   name + " has " + std::to_string(x.bytes) + " bytes from "
                     + std::to_string(x.offset) + " on after byte "
                     + std::to_string(begin) + ", and the file has "
                     + std::to_string(in.size()) + "; fetch the file again");
    if (x.bytes > 0)
      by_place.push_back(&x);
  }
  if (in.wrong())
    return begin;
  std::ranges::stable_sort(by_place, {}, &gguf_claim::offset);
  for (std::size_t i = 1; i < by_place.size(); ++i) {
    const auto &x = *by_place[i - 1], &y = *by_place[i];
    if (y.offset - x.offset < x.bytes)
      in.refuse_at(begin + y.offset,
                   in_quotes(shortened(y.name)) + " lies over "
                     + in_quotes(shortened(x.name)) + "; it is damaged");
  }
  return begin;
}

/// What stands before all else: the counts of tensors and of values.
std::pair<std::uint64_t, std::uint64_t> take_counts(header_reader& in,
                                                    gguf_header& to) {
  constexpr std::uint32_t magic = 0x4655'4747; // "GGUF"
  if (in.number<std::uint32_t>() != magic)
    in.refuse_at(0, "it is no GGUF file; a .gguf would do");
  to.version = in.number<std::uint32_t>();
  if (to.version == 0x0200'0000 || to.version == 0x0300'0000)
    in.refuse_at(4, "its numbers begin with their highest byte, which is not "
                    "read here; a little-endian file would do");
  else if (to.version != 2 && to.version != 3)
    in.refuse_at(4, "it is of version " + std::to_string(to.version)
                      + "; 2 or 3 would do");
  const auto tensors = in.number<std::uint64_t>();
  const auto values = in.number<std::uint64_t>();
  if (tensors > limits::language_tensors_max)
    in.refuse_at(
      8, "it has " + std::to_string(tensors) + " tensors, and at most "
           + std::to_string(limits::language_tensors_max) + " are read");
  if (values > limits::gguf_values_max)
    in.refuse_at(16, "it has " + std::to_string(values)
                       + " values of metadata, and at most "
                       + std::to_string(limits::gguf_values_max) + " are read");
  return {tensors, values};
}

template <class T>
const T* found_in(const gguf_header& x, std::string_view key) noexcept {
  const auto found = x.values.find(key);
  return found == x.values.end() ? nullptr : std::get_if<T>(&found->second);
}

} // namespace

const std::string* gguf_header::text(std::string_view key) const noexcept {
  return found_in<std::string>(*this, key);
}

std::optional<double> gguf_header::number(std::string_view key) const noexcept {
  if (const auto* x = found_in<double>(*this, key))
    return *x;
  if (const auto* x = found_in<std::uint64_t>(*this, key))
    return static_cast<double>(*x);
  if (const auto* x = found_in<std::int64_t>(*this, key))
    return static_cast<double>(*x);
  return std::nullopt;
}

std::optional<bool> gguf_header::flag(std::string_view key) const noexcept {
  const auto* x = found_in<bool>(*this, key);
  return x ? std::optional{*x} : std::nullopt;
}

const std::vector<std::string>*
gguf_header::texts(std::string_view key) const noexcept {
  return found_in<std::vector<std::string>>(*this, key);
}

result<gguf_header> parse_gguf(std::span<const std::byte> bytes,
                               std::string_view origin) {
  header_reader in{bytes};
  gguf_header x;
  const auto counts = take_counts(in, x);
  take_values(in, counts.second, x);
  const auto claims = take_claims(in, in.wrong() ? 0 : counts.first);
  const auto alignment = alignment_of(x, in);
  const auto begin = check_places(in, claims, alignment);
  if (in.wrong())
    return fail(errc::invalid_data, std::string{origin} + ": " + *in.wrong());
  for (const auto& y : claims)
    if (y.type.stored)
      x.tensors.push_back({.name = std::string{y.name},
                           .shape = y.shape,
                           .type = *y.type.stored,
                           .begin = begin + y.offset,
                           .bytes = y.bytes});
  return x;
}

} // namespace troupe::models
