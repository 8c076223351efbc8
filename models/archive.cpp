#include "models/archive.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <string>

#include <zlib.h>

#include "core/text.hpp"

namespace troupe::models {

namespace {

using view = std::span<const std::byte>;

// From its end: the end of the list, the list of files, and each of them with a
// head of its own before its bytes. Numbers that do not fit stand elsewhere.
constexpr std::uint32_t end_mark = 0x06054b50;
constexpr std::uint32_t place_of_long_end_mark = 0x07064b50;
constexpr std::uint32_t long_end_mark = 0x06064b50;
constexpr std::uint32_t entry_mark = 0x02014b50;
constexpr std::uint32_t head_mark = 0x04034b50;
constexpr std::size_t end_size = 22;
constexpr std::size_t place_size = 20;
constexpr std::size_t entry_size = 46;
constexpr std::size_t head_size = 30;
constexpr std::uint16_t long_numbers = 1; ///< An extra field.
constexpr std::uint32_t elsewhere = 0xffffffff;
constexpr std::uint32_t folder_flag = 0x10; ///< Among a file's attributes.

/// Nothing where there are not as many bytes.
std::optional<view> part(view x, std::uint64_t at, std::uint64_t size) {
  if (at > x.size() || size > x.size() - at)
    return std::nullopt;
  return x.subspan(static_cast<std::size_t>(at),
                   static_cast<std::size_t>(size));
}

/// @pre it is there
template <class T>
T number(view x, std::size_t at) {
  T n{};
  std::memcpy(&n, x.data() + at, sizeof n);
  return n;
}

std::string_view text(view x) {
  return {reinterpret_cast<const char*>(x.data()), x.size()};
}

struct file_list {
  std::uint64_t count = 0;
  view bytes;
};

std::optional<file_list> list_of(view x) {
  constexpr std::size_t comment_max = 0xffff;
  for (std::size_t back = end_size;
       back <= std::min(x.size(), end_size + comment_max); ++back) {
    const auto end = x.last(back);
    if (number<std::uint32_t>(end, 0) != end_mark
        || number<std::uint16_t>(end, 20) != back - end_size)
      continue;
    const auto place = part(x, x.size() - back - place_size, place_size);
    if (!place || number<std::uint32_t>(*place, 0) != place_of_long_end_mark) {
      const auto bytes =
        part(x, number<std::uint32_t>(end, 16), number<std::uint32_t>(end, 12));
      if (!bytes)
        return std::nullopt;
      return file_list{number<std::uint16_t>(end, 10), *bytes};
    }
    const auto long_end = part(x, number<std::uint64_t>(*place, 8), 56);
    if (!long_end || number<std::uint32_t>(*long_end, 0) != long_end_mark)
      return std::nullopt;
    const auto bytes = part(x, number<std::uint64_t>(*long_end, 48),
                            number<std::uint64_t>(*long_end, 40));
    if (!bytes)
      return std::nullopt;
    return file_list{number<std::uint64_t>(*long_end, 32), *bytes};
  }
  return std::nullopt;
}

struct entry {
  std::string_view name;
  std::uint16_t method = 0;
  std::uint32_t attributes = 0;
  std::uint32_t sum = 0;
  std::uint64_t packed = 0;
  std::uint64_t size = 0;
  std::uint64_t at = 0;
};

/// The numbers of an entry that did not fit, in their order.
bool take_long_numbers(view extra, entry& to) {
  while (extra.size() >= 4) {
    const auto field = part(extra, 4, number<std::uint16_t>(extra, 2));
    if (!field)
      return false;
    if (number<std::uint16_t>(extra, 0) == long_numbers) {
      auto rest = *field;
      for (auto* x : {&to.size, &to.packed, &to.at}) {
        if (*x != elsewhere)
          continue;
        if (rest.size() < sizeof *x)
          return false;
        *x = number<std::uint64_t>(rest, 0);
        rest = rest.subspan(sizeof *x);
      }
    }
    extra = extra.subspan(4 + field->size());
  }
  return true;
}

/// Takes the next one off the list.
std::optional<entry> next_entry(view& list) {
  if (list.size() < entry_size || number<std::uint32_t>(list, 0) != entry_mark)
    return std::nullopt;
  entry x{.name = {},
          .method = number<std::uint16_t>(list, 10),
          .attributes = number<std::uint32_t>(list, 38),
          .sum = number<std::uint32_t>(list, 16),
          .packed = number<std::uint32_t>(list, 20),
          .size = number<std::uint32_t>(list, 24),
          .at = number<std::uint32_t>(list, 42)};
  const auto name = part(list, entry_size, number<std::uint16_t>(list, 28));
  const auto extra = part(list, entry_size + number<std::uint16_t>(list, 28),
                          number<std::uint16_t>(list, 30));
  if (!name || !extra || !take_long_numbers(*extra, x))
    return std::nullopt;
  x.name = text(*name);
  const auto whole =
    entry_size + name->size() + extra->size() + number<std::uint16_t>(list, 32);
  if (whole > list.size())
    return std::nullopt;
  list = list.subspan(whole);
  return x;
}

/// The packed bytes of a file, whose own head says the same name.
std::optional<view> bytes_of(view x, const entry& of) {
  const auto head = part(x, of.at, head_size);
  if (!head || number<std::uint32_t>(*head, 0) != head_mark)
    return std::nullopt;
  const auto name_size = number<std::uint16_t>(*head, 26);
  const auto name = part(x, of.at + head_size, name_size);
  if (!name || text(*name) != of.name)
    return std::nullopt;
  return part(x,
              of.at + head_size + name_size + number<std::uint16_t>(*head, 28),
              of.packed);
}

/// What a packed file adds up to; nothing if it is another size.
std::optional<std::uint32_t> sum_of_packed(view packed, std::uint64_t size) {
  z_stream stream{};
  if (packed.size() > 0xffffffff || inflateInit2(&stream, -15) != Z_OK)
    return std::nullopt;
  stream.next_in = reinterpret_cast<Bytef*>(
    const_cast<std::byte*>(packed.data())); // zlib does not write there.
  stream.avail_in = static_cast<uInt>(packed.size());
  std::array<Bytef, std::size_t{1} << 15> part{};
  uLong sum = crc32(0, nullptr, 0);
  std::uint64_t made = 0;
  int code = Z_OK;
  while (code == Z_OK && made <= size) {
    stream.next_out = part.data();
    stream.avail_out = static_cast<uInt>(part.size());
    code = inflate(&stream, Z_NO_FLUSH);
    const auto n = part.size() - stream.avail_out;
    sum = crc32_z(sum, part.data(), n);
    made += n;
  }
  inflateEnd(&stream);
  if (code != Z_STREAM_END || made != size)
    return std::nullopt;
  return static_cast<std::uint32_t>(sum);
}

bool is_whole(view x, const entry& of) {
  // Of a folder nothing is read, and whoever asked has what was there before.
  if ((of.attributes & folder_flag) != 0 || of.name.ends_with('/'))
    return false;
  const auto bytes = bytes_of(x, of);
  if (!bytes)
    return false;
  if (of.method == 8)
    return sum_of_packed(*bytes, of.size) == of.sum;
  return of.method == 0 && of.size == of.packed
         && crc32_z(crc32(0, nullptr, 0),
                    reinterpret_cast<const Bytef*>(bytes->data()),
                    bytes->size())
              == of.sum;
}

} // namespace

result<void> check_archive(view bytes, std::string_view origin) {
  const auto refuse = [&](const std::string& what) {
    return fail(errc::invalid_data, std::string{origin} + ": " + what
                                      + "; save or fetch the file again");
  };
  auto list = list_of(bytes);
  if (!list)
    return refuse("is no archive, or one that was cut off");
  std::set<std::string_view> names;
  for (; list->count > 0; --list->count) {
    const auto x = next_entry(list->bytes);
    if (!x)
      return refuse("its list of files is damaged");
    if (!is_whole(bytes, *x))
      return refuse(in_quotes(x->name) + " in it is damaged");
    if (!names.insert(x->name).second)
      return refuse("has two files of the name " + in_quotes(x->name));
  }
  if (!list->bytes.empty())
    return refuse("its list of files is damaged");
  return {};
}

} // namespace troupe::models
