#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include <unistd.h>

#include "core/assert.hpp"
#include "tests/damage/reader.hpp"

namespace troupe::damage {

namespace {

constexpr std::array<std::string_view, 17> numbers{"0",
                                                   "-1",
                                                   "1e308",
                                                   "-1e308",
                                                   "1e30",
                                                   "5e-324",
                                                   "1e999",
                                                   "0.1",
                                                   "nan",
                                                   "inf",
                                                   "-inf",
                                                   "2147483648",
                                                   "4294967296",
                                                   "9223372036854775807",
                                                   "9223372036854775808",
                                                   "18446744073709551615",
                                                   "99999999999999999999999"};

constexpr std::array<std::string_view, 14> values{
  "null", "true", "false",  "[]",         "{}",     "\"\"", "\"text\"",
  "-1",   "1.5",  "[1, 2]", "{\"a\": 1}", "[[[]]]", "''",   "1979-05-27"};

constexpr std::array<std::string_view, 10> words{
  "\"",   "\n", "\r",           "\\u0000", "\x1b[31m",
  "\xff", ",",  "\xf0\x9f\x98", "|<b>",    "]}"};

template <class T>
const T& one_of(const T* first, std::size_t count, random_stream& draw) {
  return first[draw.below(count)];
}

std::size_t place_in(const std::string& x, random_stream& draw) {
  return static_cast<std::size_t>(draw.below(x.size() + 1));
}

std::size_t length_in(const std::string& x, random_stream& draw) {
  const auto most =
    draw.chance(0.5) ? std::min<std::size_t>(x.size(), 16) : x.size();
  return static_cast<std::size_t>(draw.below(most + 1));
}

void flip_bits(std::string& x, random_stream& draw) {
  for (auto n = 1 + draw.below(8); n > 0 && !x.empty(); --n) {
    auto& c = x[draw.below(x.size())];
    c =
      static_cast<char>(static_cast<unsigned char>(c) ^ (1U << draw.below(8)));
  }
}

void cut(std::string& x, random_stream& draw) {
  x.resize(place_in(x, draw));
}

void remove_chunk(std::string& x, random_stream& draw) {
  const auto at = place_in(x, draw);
  x.erase(at, length_in(x, draw));
}

void double_chunk(std::string& x, random_stream& draw) {
  const auto chunk = x.substr(place_in(x, draw), length_in(x, draw));
  x.insert(place_in(x, draw), chunk);
}

void overwrite(std::string& x, random_stream& draw) {
  const auto at = place_in(x, draw);
  const auto n = std::min(length_in(x, draw), x.size() - at);
  const auto how = draw.below(3);
  for (std::size_t i = 0; i < n; ++i)
    x[at + i] = static_cast<char>(how == 0   ? 0
                                  : how == 1 ? 0xff
                                             : draw.below(256));
}

/// An integer of two to eight bytes, in either order.
void put_extreme(std::string& x, random_stream& draw) {
  constexpr std::array<std::uint64_t, 8> all{
    0, 1, 0x7f, 0x7fff, 0x7fffffff, 0x80000000, 0x7fffffffffffffff, ~0ULL};
  const auto value = one_of(all.data(), all.size(), draw);
  const std::size_t size = 2U << draw.below(3);
  if (x.size() < size)
    return;
  const auto at = draw.below(x.size() - size + 1);
  const bool big_endian = draw.chance(0.5);
  for (std::size_t i = 0; i < size; ++i)
    x[at + (big_endian ? size - 1 - i : i)] = static_cast<char>(value >> 8 * i);
}

bool is_number(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e';
}

void change_number(std::string& x, random_stream& draw) {
  const auto from = x.find_first_of("0123456789", place_in(x, draw));
  if (from == x.npos)
    return;
  auto to = from;
  while (to < x.size() && is_number(x[to]))
    ++to;
  x.replace(from, to - from, one_of(numbers.data(), numbers.size(), draw));
}

/// What stands after a colon, an equals sign or a comma is something else.
void change_type(std::string& x, random_stream& draw) {
  const auto sign = x.find_first_of(":=,[", place_in(x, draw));
  if (sign == x.npos)
    return;
  const auto to = std::min(x.find_first_of(",}\n]", sign + 1), x.size());
  x.replace(sign + 1, to - sign - 1,
            one_of(values.data(), values.size(), draw));
}

void nest(std::string& x, random_stream& draw) {
  const auto n = 1 + draw.below(draw.chance(0.1) ? 100'000 : 100);
  const auto* what = draw.chance(0.5) ? "[" : "{\"a\":";
  std::string deep;
  for (std::uint64_t i = 0; i < n; ++i)
    deep += what;
  x.insert(place_in(x, draw), deep);
}

void insert_word(std::string& x, random_stream& draw) {
  x.insert(place_in(x, draw), one_of(words.data(), words.size(), draw));
}

/// Another line in its place, or one more, or one less.
void move_lines(std::string& x, random_stream& draw) {
  const auto line = [&] {
    const auto at = place_in(x, draw);
    const auto before = at == 0 ? x.npos : x.rfind('\n', at - 1);
    const auto first = before == x.npos ? 0 : before + 1;
    const auto end = x.find('\n', first);
    return std::pair{first, (end == x.npos ? x.size() : end + 1) - first};
  };
  const auto [from, size] = line();
  const auto text = x.substr(from, size);
  if (draw.chance(0.6))
    x.erase(from, size);
  if (draw.chance(0.6))
    x.insert(line().first, text);
}

using change = void (*)(std::string&, random_stream&);

constexpr std::array<change, 6> of_bytes{flip_bits,    cut,       remove_chunk,
                                         double_chunk, overwrite, put_extreme};
constexpr std::array<change, 9> of_text{
  flip_bits,   cut,         remove_chunk, double_chunk, change_number,
  change_type, insert_word, move_lines,   nest};

} // namespace

std::string altered(std::string original, bool is_text, random_stream& draw) {
  for (auto n = 1 + draw.below(3); n > 0; --n)
    if (is_text)
      one_of(of_text.data(), of_text.size(), draw)(original, draw);
    else
      one_of(of_bytes.data(), of_bytes.size(), draw)(original, draw);
  return original;
}

reader reader_of(std::vector<reader> all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &reader::name);
  TROUPE_ASSERT(found != all.end());
  return std::move(*found);
}

std::filesystem::path own_folder() {
  namespace fs = std::filesystem;
  struct folder {
    // In memory where that is possible: each input of a ledger is a file.
    fs::path path =
      fs::path{access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"}
      / ("troupe-damage-" + std::to_string(getpid()));

    ~folder() {
      std::error_code none;
      fs::remove_all(path, none);
    }
  };
  static const folder own;
  fs::create_directories(own.path);
  return own.path;
}

void write(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream{path, std::ios::binary}.write(
    bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

} // namespace troupe::damage
