#include "models/language/gguf.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/limits.hpp"
#include "tests/support/small_language.hpp"

namespace troupe::models::gguf_test {

namespace {

constexpr std::uint32_t f32 = 0, q2_k = 10, q4_k = 12, i16 = 25;

template <class T>
std::string raw(T x) {
  std::string y(sizeof x, '\0');
  std::memcpy(y.data(), &x, sizeof x);
  return y;
}

std::string text(std::string_view x) {
  return raw(std::uint64_t{x.size()}) + std::string{x};
}

std::string kind(std::uint32_t x) {
  return raw(x);
}

/// Extents as the file has them: the innermost first.
std::string tensor(std::string_view name,
                   const std::vector<std::uint64_t>& extents,
                   std::uint32_t type, std::uint64_t offset) {
  auto x = text(name) + raw(static_cast<std::uint32_t>(extents.size()));
  for (const auto extent : extents)
    x += raw(extent);
  return x + raw(type) + raw(offset);
}

/// Whose header has 24 bytes before `pairs`.
struct file {
  std::uint64_t values = 0;
  std::string pairs = {};
  std::uint64_t tensors = 0;
  std::string claims = {};
  std::size_t data = 0;
  std::uint32_t version = 3;
  std::size_t alignment = 32;

  std::string bytes() const {
    auto x =
      "GGUF" + raw(version) + raw(tensors) + raw(values) + pairs + claims;
    x.resize((x.size() + alignment - 1) / alignment * alignment + data);
    return x;
  }
};

result<gguf_header> parsed(const std::string& x) {
  return parse_gguf(std::as_bytes(std::span{x}), "some.gguf");
}

std::string refusal(const std::string& x) {
  const auto y = parsed(x);
  if (y)
    return "read";
  EXPECT_EQ(y.error().code, errc::invalid_data);
  EXPECT_EQ(y.error().context.substr(0, 19), "some.gguf: at byte ");
  return y.error().context.substr(19);
}

std::string refusal_of_tensor(const std::vector<std::uint64_t>& extents,
                              std::uint32_t type, std::uint64_t offset,
                              std::size_t data) {
  return refusal(file{
    .tensors = 1, .claims = tensor("w", extents, type, offset), .data = data}
                   .bytes());
}

/// Of the one key "k", from its kind on.
std::string refusal_of_value(const std::string& x) {
  auto all = file{.values = 1, .pairs = text("k") + x}.bytes();
  all.resize(24 + 9 + x.size()); // Nothing comes after it.
  return refusal(all);
}

std::string refusal_of_alignment(const std::string& x) {
  return refusal(
    file{.values = 1, .pairs = text("general.alignment") + x}.bytes());
}

} // namespace

TEST(gguf, has_values_of_all_kinds) {
  const auto pairs =
    text("a") + kind(0) + raw(std::uint8_t{200}) + text("b") + kind(1)
    + raw(std::int8_t{-3}) + text("c") + kind(2) + raw(std::uint16_t{60000})
    + text("d") + kind(3) + raw(std::int16_t{-300}) + text("e") + kind(4)
    + raw(std::uint32_t{4'000'000'000}) + text("f") + kind(5)
    + raw(std::int32_t{-7}) + text("g") + kind(6) + raw(0.5f) + text("h")
    + kind(7) + raw(std::uint8_t{1}) + text("i") + kind(8) + text("a\xff")
    + text("j") + kind(10) + raw(std::numeric_limits<std::uint64_t>::max())
    + text("k") + kind(11) + raw(std::int64_t{-9}) + text("l") + kind(12)
    + raw(0.25);
  const auto x = parsed(file{.values = 12, .pairs = pairs}.bytes());
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->version, 3u);
  EXPECT_EQ(x->values.at("a"), gguf_value{std::uint64_t{200}});
  EXPECT_EQ(x->values.at("b"), gguf_value{std::int64_t{-3}});
  EXPECT_EQ(x->number("c"), 60000);
  EXPECT_EQ(x->number("d"), -300);
  EXPECT_EQ(x->number("e"), 4e9);
  EXPECT_EQ(x->number("f"), -7);
  EXPECT_EQ(x->number("g"), 0.5);
  EXPECT_EQ(x->flag("h"), true);
  ASSERT_NE(x->text("i"), nullptr);
  EXPECT_EQ(*x->text("i"), "a\xff") << "texts are any bytes";
  EXPECT_EQ(x->values.at("j"),
            gguf_value{std::numeric_limits<std::uint64_t>::max()});
  EXPECT_EQ(x->number("k"), -9);
  EXPECT_EQ(x->number("l"), 0.25);
  EXPECT_FALSE(x->number("i") || x->number("m") || x->flag("a"));
  EXPECT_TRUE(x->text("a") == nullptr && x->texts("i") == nullptr);
}

TEST(gguf, has_lists) {
  const auto list = [](std::uint32_t of, std::uint64_t count) {
    return kind(9) + kind(of) + raw(count);
  };
  const auto pairs = text("bytes") + list(0, 2) + "\x01\xff" + text("counts")
                     + list(5, 2) + raw(std::int32_t{-1}) + raw(std::int32_t{2})
                     + text("flags") + list(7, 2) + std::string{"\x01\x00", 2}
                     + text("reals") + list(6, 1) + raw(0.5f) + text("texts")
                     + list(8, 2) + text("") + text("two") + text("none")
                     + list(12, 0);
  const auto x = parsed(file{.values = 6, .pairs = pairs}.bytes());
  ASSERT_TRUE(x) << x.error().context;
  using counts = std::vector<std::int64_t>;
  EXPECT_EQ(x->values.at("bytes"), (gguf_value{counts{1, 255}}));
  EXPECT_EQ(x->values.at("counts"), (gguf_value{counts{-1, 2}}));
  EXPECT_EQ(x->values.at("flags"), (gguf_value{counts{1, 0}}));
  EXPECT_EQ(x->values.at("reals"), (gguf_value{std::vector<double>{0.5}}));
  ASSERT_NE(x->texts("texts"), nullptr);
  EXPECT_EQ(*x->texts("texts"), (std::vector<std::string>{"", "two"}));
  EXPECT_EQ(x->values.at("none"), (gguf_value{std::vector<double>{}}));
}

TEST(gguf, has_tensors_the_other_way_round_and_where_they_lie) {
  const auto claims = tensor("w", {256, 3}, q4_k, 0)
                      + tensor("ids", {5}, i16, 448) + tensor("s", {}, f32, 512)
                      + tensor("none", {4, 0}, f32, 544);
  const auto x =
    parsed(file{.tensors = 4, .claims = claims, .data = 544}.bytes());
  ASSERT_TRUE(x) << x.error().context;
  ASSERT_EQ(x->tensors.size(), 3u) << "whole numbers are left out";
  const auto& w = x->tensors[0];
  EXPECT_EQ(w.name, "w");
  EXPECT_EQ(w.shape, (std::vector<std::int64_t>{3, 256}));
  EXPECT_EQ(w.type, stored_type::q4_k);
  EXPECT_EQ(w.bytes, 3u * 144);
  EXPECT_EQ(w.begin % 32, 0u);
  EXPECT_TRUE(x->tensors[1].shape.empty());
  EXPECT_EQ(x->tensors[1].bytes, 4u);
  EXPECT_EQ(x->tensors[1].begin, w.begin + 512);
  EXPECT_EQ(x->tensors[2].bytes, 0u);
}

TEST(gguf, begins_tensors_at_what_it_says_and_is_of_two_versions) {
  for (const std::uint32_t version : {2u, 3u}) {
    const auto x = parsed(
      file{.values = 1,
           .pairs = text("general.alignment") + kind(4) + raw(std::uint32_t{8}),
           .tensors = 2,
           .claims = tensor("a", {2}, f32, 0) + tensor("b", {1}, f32, 8),
           .data = 12,
           .version = version,
           .alignment = 8}
        .bytes());
    ASSERT_TRUE(x) << x.error().context;
    EXPECT_EQ(x->version, version);
    EXPECT_EQ(x->tensors[0].begin % 8, 0u);
    EXPECT_EQ(x->tensors[1].begin, x->tensors[0].begin + 8);
  }
}

TEST(gguf, is_refused_wherever_it_is_cut_off) {
  auto by_hand = test::keys_of_small_llama();
  by_hand.tensor("w", {2, 4}, std::vector<float>(8));
  const auto whole = by_hand.bytes();
  ASSERT_TRUE(parsed(whole)) << parsed(whole).error().context;
  for (std::size_t n = 0; n < whole.size(); ++n)
    ASSERT_NE(refusal(whole.substr(0, n)), "read") << n;
}

TEST(gguf, is_refused_where_it_is_another_file) {
  EXPECT_EQ(refusal(""), "0: it ends within its header; fetch the file again");
  EXPECT_EQ(refusal(std::string(40, 'x')),
            "0: it is no GGUF file; a .gguf would do");
  EXPECT_EQ(refusal(file{.version = 1}.bytes()),
            "4: it is of version 1; 2 or 3 would do");
  EXPECT_EQ(refusal(file{.version = 0x0300'0000}.bytes()),
            "4: its numbers begin with their highest byte, which is not read "
            "here; a little-endian file would do");
  EXPECT_EQ(refusal(file{.tensors = 65'537}.bytes()),
            "8: it has 65537 tensors, and at most 65536 are read");
  EXPECT_EQ(refusal(file{.values = 4097}.bytes()),
            "16: it has 4097 values of metadata, and at most 4096 are read");
}

TEST(gguf, is_refused_for_values_that_cannot_be) {
  EXPECT_EQ(refusal_of_value(kind(13)),
            "37: a value is of kind 13, which is not known; 0 to 12 would do");
  EXPECT_EQ(refusal_of_value(kind(7) + "\x07"),
            "38: a bool is 7; 0 or 1 would do");
  EXPECT_EQ(refusal_of_value(kind(8) + raw(std::uint64_t{1} << 63) + "abc"),
            "45: a text claims 9223372036854775808 bytes, and 3 are left; "
            "fetch the file again");
  EXPECT_EQ(refusal_of_value(kind(9) + kind(9) + raw(std::uint64_t{1})),
            "49: a list has items of kind 9, which are not read here; "
            "numbers, bools or texts would do");
  EXPECT_EQ(refusal_of_value(kind(9) + kind(0) + raw(std::uint64_t{1} << 40)),
            "49: a list claims 1099511627776 items, and at most 4194304 are "
            "read");
  EXPECT_EQ(
    refusal_of_value(kind(9) + kind(4) + raw(std::uint64_t{100}) + "abc"),
    "49: a list claims 100 items, and 3 bytes are left; fetch the "
    "file again");
  EXPECT_EQ(refusal_of_value(kind(9) + kind(10) + raw(std::uint64_t{1})
                             + raw(std::uint64_t{1} << 63)),
            "57: a list has the number 9223372036854775808, and numbers below "
            "2^63 are read");
  const auto pair = text("k") + kind(7) + "\x01";
  EXPECT_EQ(refusal(file{.values = 2, .pairs = pair + pair}.bytes()),
            "38: the key 'k' is there twice; a file that says it once would "
            "do");
}

TEST(gguf, is_refused_for_lists_and_texts_that_are_too_much_together) {
  const auto bytes = [](std::size_t count) {
    return kind(9) + kind(0) + raw(std::uint64_t{count})
           + std::string(count, '\1');
  };
  const auto half = bytes(limits::gguf_items_together_max / 2);
  const auto two = text("a") + half + text("b") + half;
  EXPECT_EQ(refusal(file{.values = 2, .pairs = two}.bytes()), "read");
  const auto three = two + text("c") + bytes(1);
  // After the count of the third.
  EXPECT_EQ(refusal(file{.values = 3, .pairs = three}.bytes()),
            std::to_string(24 + three.size() - 1)
              + ": its lists claim 8388609 items up to here, and at most "
                "8388608 are read of a file; one with a smaller vocabulary "
                "would do");
  const std::string most(limits::gguf_text_bytes_max, 'x');
  EXPECT_EQ(
    refusal(
      file{.values = 1, .pairs = text("k") + kind(8) + text(most)}.bytes()),
    "45: its texts have 67108865 bytes up to here, and at most "
    "67108864 are read of a file; one with a smaller vocabulary would "
    "do");
}

TEST(gguf, is_refused_for_alignments_that_are_none) {
  EXPECT_EQ(refusal_of_alignment(kind(4) + raw(std::uint32_t{0})),
            "57: general.alignment is 0; a power of two, such as 32, would do");
  EXPECT_EQ(refusal_of_alignment(kind(4) + raw(std::uint32_t{48})),
            "57: general.alignment is 48; a power of two, such as 32, would "
            "do");
  EXPECT_EQ(refusal_of_alignment(kind(10) + raw(std::uint64_t{1} << 40)),
            "61: general.alignment is 1099511627776; a power of two, such as "
            "32, would do");
  EXPECT_EQ(refusal_of_alignment(kind(8) + text("x")),
            "62: general.alignment is no whole number from 0; a power of two, "
            "such as 32, would do");
}

TEST(gguf, is_refused_for_tensors_that_are_not_read) {
  EXPECT_EQ(refusal_of_tensor({256}, q2_k, 0, 84),
            "24: 'w' is of type Q2_K, which is not read here; F16, Q8_0, Q4_K "
            "or the like would do");
  EXPECT_EQ(refusal_of_tensor({256}, 4000, 0, 84),
            "24: 'w' is of type number 4000, which is not read here; F16, "
            "Q8_0, Q4_K or the like would do");
  EXPECT_EQ(refusal_of_tensor({1, 1, 1, 1, 1}, f32, 0, 4),
            "24: 'w' has 5 extents; at most 4 would do");
  EXPECT_EQ(refusal_of_tensor({100, 256}, q4_k, 0, 14400),
            "24: 'w' of shape [256, 100] is of type Q4_K, whose rows have a "
            "multiple of 256 values; it is damaged");
  EXPECT_EQ(refusal_of_tensor({}, q4_k, 0, 144),
            "24: 'w' of shape [] is of type Q4_K, whose rows have a multiple "
            "of 256 values; it is damaged");
}

TEST(gguf, is_refused_for_sizes_that_wrap) {
  const auto beyond = "24: 'w' has more values than can be counted; it is "
                      "damaged";
  constexpr auto large = std::uint64_t{1} << 62;
  EXPECT_EQ(refusal_of_tensor({large}, f32, 0, 32), beyond);
  EXPECT_EQ(refusal_of_tensor({large, 4}, i16, 0, 32), beyond);
  EXPECT_EQ(refusal_of_tensor({2 * large}, f32, 0, 32), beyond);
  EXPECT_EQ(refusal_of_tensor({large, large, 0}, q4_k, 0, 32), "read")
    << "from the outermost on there are none";
  EXPECT_EQ(refusal_of_tensor({8}, f32, 4 * large - 32, 32),
            "24: 'w' has 32 bytes from 18446744073709551584 on after byte 64, "
            "and the file has 96; fetch the file again");
}

TEST(gguf, is_refused_for_tensors_that_lie_elsewhere) {
  EXPECT_EQ(refusal_of_tensor({8}, f32, 0, 32), "read");
  EXPECT_EQ(refusal_of_tensor({8}, f32, 0, 31),
            "24: 'w' has 32 bytes from 0 on after byte 64, and the file has "
            "95; fetch the file again");
  EXPECT_EQ(refusal_of_tensor({8}, f32, 32, 32),
            "24: 'w' has 32 bytes from 32 on after byte 64, and the file has "
            "96; fetch the file again");
  EXPECT_EQ(refusal_of_tensor({8}, f32, 4, 64),
            "24: 'w' begins 4 bytes after the first, and tensors begin at "
            "multiples of 32; it is damaged");
  const auto two = [](const std::string& a, const std::string& b) {
    return refusal(file{.tensors = 2, .claims = a + b, .data = 128}.bytes());
  };
  EXPECT_EQ(two(tensor("a", {16}, f32, 0), tensor("b", {8}, f32, 32)),
            "128: 'b' lies over 'a'; it is damaged");
  EXPECT_EQ(two(tensor("b", {8}, f32, 32), tensor("a", {4}, i16, 32)),
            "128: 'a' lies over 'b'; it is damaged")
    << "whole numbers have a place, too";
  EXPECT_EQ(two(tensor("a", {8}, f32, 32), tensor("b", {8}, f32, 96)), "read")
    << "there may be room between them";
  EXPECT_EQ(two(tensor("w", {8}, f32, 0), tensor("w", {8}, f32, 32)),
            "57: 'w' is there twice; a file that has it once would do");
}

} // namespace troupe::models::gguf_test
