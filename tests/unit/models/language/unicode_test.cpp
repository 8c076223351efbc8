#include "models/language/unicode.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/text.hpp"

namespace troupe::models::unicode_test {

namespace {

std::string of(std::vector<char32_t> letters) {
  std::string text;
  for (const auto x : letters)
    append_utf8(x, text);
  return text;
}

} // namespace

TEST(unicode, writes_what_it_reads) {
  for (const char32_t x : {0x0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000,
                           0xffff, 0x10000, 0x10ffff}) {
    const auto text = of({x});
    const auto y = letter_at(text, 0);
    EXPECT_TRUE(y.valid);
    EXPECT_EQ(y.value, x);
    EXPECT_EQ(y.bytes, text.size());
  }
}

// What `is_utf8` says of whole texts.
TEST(unicode, takes_a_byte_that_begins_no_letter_alone) {
  const std::vector<std::string> broken{
    "\x80",             // Goes on with nothing.
    "\xc3",             // Cut off.
    "\xc0\xaf",         // Longer than it must be.
    "\xe0\x80\xaf",     // So is this.
    "\xed\xa0\x80",     // Half of a pair.
    "\xf4\x90\x80\x80", // Beyond the last letter.
    "\xf5\x80\x80\x80",
    "\xff"};
  for (const auto& text : broken) {
    const auto x = letter_at(text, 0);
    EXPECT_FALSE(x.valid) << in_quotes(text);
    EXPECT_EQ(x.bytes, 1u);
    EXPECT_FALSE(is_utf8(text));
  }
  EXPECT_TRUE(letter_at("a\xc3\xa9", 1).valid);
}

TEST(unicode, knows_what_is_assigned) {
  for (const char32_t x : {0x41, 0x7, 0xad, 0xe000, 0xfffd})
    EXPECT_TRUE(is_assigned(x)) << static_cast<unsigned>(x);
  for (const char32_t x : {0xfffe, 0xffff, 0x378, 0x10ffff})
    EXPECT_FALSE(is_assigned(x)) << static_cast<unsigned>(x);
}

TEST(unicode, tells_classes_apart) {
  EXPECT_EQ(class_of(U'a'), letter_class::letter);
  EXPECT_EQ(class_of(0x4e2d), letter_class::letter);
  EXPECT_EQ(class_of(0x301), letter_class::mark);
  EXPECT_EQ(class_of(0x903), letter_class::mark);
  EXPECT_EQ(class_of(U'7'), letter_class::number);
  EXPECT_EQ(class_of(0xbd), letter_class::number); // One half.
  EXPECT_EQ(class_of(U'!'), letter_class::punctuation);
  EXPECT_EQ(class_of(U'$'), letter_class::symbol);
  EXPECT_EQ(class_of(0x1f600), letter_class::symbol);
  EXPECT_EQ(class_of(U' '), letter_class::space);
  EXPECT_EQ(class_of(0x2028), letter_class::space);
  EXPECT_EQ(class_of(U'\n'), letter_class::control);
  EXPECT_EQ(class_of(0x200d), letter_class::control); // A format.
  EXPECT_EQ(class_of(0xe000), letter_class::other);
  EXPECT_EQ(class_of(0x378), letter_class::other);
  EXPECT_TRUE(is_nonspacing_mark(0x301));
  EXPECT_FALSE(is_nonspacing_mark(0x903)); // Takes room of its own.
}

TEST(unicode, has_four_forms) {
  const auto whole = of({0xe9, 0xfb01}); // é, and f and i as one letter.
  EXPECT_EQ(normalised(whole, normal_form::nfc), whole);
  EXPECT_EQ(normalised(whole, normal_form::nfd), of({'e', 0x301, 0xfb01}));
  EXPECT_EQ(normalised(whole, normal_form::nfkc), of({0xe9, 'f', 'i'}));
  EXPECT_EQ(normalised(whole, normal_form::nfkd), of({'e', 0x301, 'f', 'i'}));
  // What has a letter of its own that is no longer to be used.
  EXPECT_EQ(normalised(of({0x212b}), normal_form::nfc), of({0xc5}));
  EXPECT_EQ(normalised(of({0x1100, 0x1161, 0x11a8}), normal_form::nfc),
            of({0xac01}));
  EXPECT_EQ(normalised("plain\n", normal_form::nfkc), "plain\n");
}

TEST(unicode, orders_marks_by_their_class_and_keeps_the_order_of_equals) {
  // 0x323 stands below (220), 0x307 and 0x301 above (230).
  EXPECT_EQ(normalised(of({'q', 0x307, 0x301, 0x323}), normal_form::nfd),
            of({'q', 0x323, 0x307, 0x301}));
}

// Else somebody's text could take hours.
TEST(unicode, orders_a_hundred_thousand_marks) {
  std::vector<char32_t> letters{'q'};
  for (int i = 0; i < 50'000; ++i)
    letters.insert(letters.end(), {0x307, 0x323});
  const auto text = normalised(of(letters), normal_form::nfd);
  EXPECT_EQ(text.size(), 1 + 200'000u);
  EXPECT_EQ(text.substr(1, 4), of({0x323, 0x323}));
}

TEST(unicode, leaves_bytes_that_are_no_letters_where_they_are) {
  EXPECT_EQ(normalised("e\xcc\x81\xff\xcc\x81\xc3", normal_form::nfc),
            "\xc3\xa9\xff\xcc\x81\xc3");
  EXPECT_EQ(lowercased("A\xff\xc3\x89"), "a\xff\xc3\xa9");
}

TEST(unicode, lowers_letter_by_letter) {
  EXPECT_EQ(lowercased("ABC xyz 12"), "abc xyz 12");
  EXPECT_EQ(lowercased(of({0x130})), of({'i', 0x307}));
  // The last sigma of a word, too.
  EXPECT_EQ(lowercased(of({0x3a3, 0x3a3})), of({0x3c3, 0x3c3}));
}

} // namespace troupe::models::unicode_test
