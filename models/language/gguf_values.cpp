// What keys of a GGUF file say: numbers, bools, texts, and lists of these.

#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/limits.hpp"
#include "core/text.hpp"
#include "models/language/gguf_reader.hpp"

namespace troupe::models {

namespace {

/// As the file numbers them.
enum class value_kind : std::uint32_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  f32,
  flag,
  text,
  list,
  u64,
  i64,
  f64,
};

template <class T>
gguf_value whole(header_reader& in) {
  const auto x = in.number<T>();
  if constexpr (std::is_signed_v<T>)
    return std::int64_t{x};
  else
    return std::uint64_t{x};
}

bool flag(header_reader& in) {
  const auto x = in.number<std::uint8_t>();
  if (x > 1)
    in.refuse("a bool is " + std::to_string(x) + "; 0 or 1 would do");
  return x == 1;
}

/// @pre each takes a byte of the file or more, and as many are left
template <class Item, class Read>
gguf_value items(header_reader& in, std::uint64_t count, const Read& read) {
  std::vector<Item> all;
  all.reserve(static_cast<std::size_t>(count));
  for (; count > 0 && !in.wrong(); --count)
    all.push_back(read());
  return all;
}

template <class T>
gguf_value numbers(header_reader& in, std::uint64_t count) {
  if constexpr (std::is_floating_point_v<T>)
    return items<double>(in, count, [&] { return double{in.number<T>()}; });
  else
    return items<std::int64_t>(in, count, [&] {
      const auto x = in.number<T>();
      if (std::cmp_greater(x, std::numeric_limits<std::int64_t>::max()))
        in.refuse("a list has the number " + std::to_string(x)
                  + ", and numbers below 2^63 are read");
      return static_cast<std::int64_t>(x);
    });
}

/// Of each item of a list, at least.
std::uint64_t bytes_of(value_kind x) {
  switch (x) {
    case value_kind::u8:
    case value_kind::i8:
    case value_kind::flag:
      return 1;
    case value_kind::u16:
    case value_kind::i16:
      return 2;
    case value_kind::u32:
    case value_kind::i32:
    case value_kind::f32:
      return 4;
    case value_kind::text:
    case value_kind::u64:
    case value_kind::i64:
    case value_kind::f64:
      return 8;
    case value_kind::list:
      break;
  }
  return 0;
}

gguf_value list(header_reader& in) {
  const auto number = in.number<std::uint32_t>();
  const auto kind = static_cast<value_kind>(number);
  const auto count = in.number<std::uint64_t>();
  const auto each = bytes_of(kind);
  if (each == 0)
    in.refuse("a list has items of kind " + std::to_string(number)
              + ", which are not read here; numbers, bools or texts would do");
  else if (count > limits::gguf_items_max)
    in.refuse("a list claims " + std::to_string(count) + " items, and at most "
              + std::to_string(limits::gguf_items_max) + " are read");
  else if (count > in.left() / each)
    in.refuse("a list claims " + std::to_string(count) + " items, and "
              + std::to_string(in.left())
              + " bytes are left; fetch the file again");
  else
    in.expect_items(count);
  if (in.wrong())
    return {};
  switch (kind) {
    case value_kind::u8:
      return numbers<std::uint8_t>(in, count);
    case value_kind::i8:
      return numbers<std::int8_t>(in, count);
    case value_kind::u16:
      return numbers<std::uint16_t>(in, count);
    case value_kind::i16:
      return numbers<std::int16_t>(in, count);
    case value_kind::u32:
      return numbers<std::uint32_t>(in, count);
    case value_kind::i32:
      return numbers<std::int32_t>(in, count);
    case value_kind::u64:
      return numbers<std::uint64_t>(in, count);
    case value_kind::i64:
      return numbers<std::int64_t>(in, count);
    case value_kind::f32:
      return numbers<float>(in, count);
    case value_kind::f64:
      return numbers<double>(in, count);
    case value_kind::flag:
      return items<std::int64_t>(in, count,
                                 [&] { return std::int64_t{flag(in)}; });
    case value_kind::text:
      return items<std::string>(in, count,
                                [&] { return std::string{in.text()}; });
    case value_kind::list:
      break;
  }
  return {};
}

gguf_value value(header_reader& in) {
  const auto number = in.number<std::uint32_t>();
  switch (static_cast<value_kind>(number)) {
    case value_kind::u8:
      return whole<std::uint8_t>(in);
    case value_kind::i8:
      return whole<std::int8_t>(in);
    case value_kind::u16:
      return whole<std::uint16_t>(in);
    case value_kind::i16:
      return whole<std::int16_t>(in);
    case value_kind::u32:
      return whole<std::uint32_t>(in);
    case value_kind::i32:
      return whole<std::int32_t>(in);
    case value_kind::u64:
      return whole<std::uint64_t>(in);
    case value_kind::i64:
      return whole<std::int64_t>(in);
    case value_kind::f32:
      return double{in.number<float>()};
    case value_kind::f64:
      return in.number<double>();
    case value_kind::flag:
      return flag(in);
    case value_kind::text:
      return std::string{in.text()};
    case value_kind::list:
      return list(in);
  }
  in.refuse("a value is of kind " + std::to_string(number)
            + ", which is not known; 0 to 12 would do");
  return {};
}

} // namespace

void take_values(header_reader& in, std::uint64_t count, gguf_header& to) {
  for (; count > 0 && !in.wrong(); --count) {
    const auto at = in.at();
    const auto key = in.text();
    auto x = value(in);
    if (!to.values.emplace(std::string{key}, std::move(x)).second)
      in.refuse_at(at, "the key " + in_quotes(shortened(key))
                         + " is there twice; a file that says it once would "
                           "do");
  }
}

} // namespace troupe::models
