// What a span of tokens says, as a text.

#include "models/language/asked_text.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>

#include "models/language/row_maker.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::models::asked_text_test {

namespace {

struct row_sizes {
  std::size_t context = 24, stride = 0;
};

/// A question, and the last row that is made of it.
struct asked_row {
  asked_row(std::shared_ptr<const tokenizer> by, std::string text,
            row_sizes sizes = {})
    : by(std::move(by)),
      made(row_maker{text_task::span, sizes.context, sizes.stride, *this->by}
             .make_all({.text = text, .before = "who"}, true)
             .value()
             .back()),
      from{.text = std::move(text), .first = made.text_first, .meant = {""}} {
    // nop
  }

  std::string said(std::size_t first, std::size_t last) const {
    return said_by({first, last}, {.ids = made.ids, .skipped = made.skipped},
                   from, *by);
  }

  std::shared_ptr<const tokenizer> by;
  made_row made;
  asked_text from;
};

/// In lower case, with a dash between years.
std::shared_ptr<const tokenizer> of_words(const test::scratch_folder& at) {
  const auto path = at.path() + "/vocab.txt";
  std::ofstream{path} << "[PAD]\n[UNK]\n[CLS]\n[SEP]\nwho\nfrom\n1990\n-\n1995"
                         "\non\n##ward\n";
  return load_tokenizer(path).value();
}

} // namespace

TEST(answers_of_a_row, are_the_words_that_stand_in_its_text) {
  const test::scratch_folder folder;
  // CLS who SEP from 1990 - 1995 on ##ward SEP
  const asked_row x{of_words(folder), "From 1990-1995  Onward"};
  ASSERT_EQ(x.made.ids.size(), 10u);
  ASSERT_EQ(x.from.first, 3u);
  EXPECT_EQ(x.said(3, 3), "From");
  EXPECT_EQ(x.said(4, 6), "1990-1995");
  EXPECT_EQ(x.said(3, 6), "From 1990-1995");
  EXPECT_EQ(x.said(4, 8), "1990-1995 Onward");
}

TEST(answers_of_a_row, are_decoded_where_they_are_parts_of_words) {
  const test::scratch_folder folder;
  const asked_row x{of_words(folder), "From 1990-1995  Onward"};
  EXPECT_EQ(x.said(4, 4), "1990");
  EXPECT_EQ(x.said(6, 8), "1995 Onward");
  EXPECT_EQ(x.said(3, 4), "From 1990");
  EXPECT_EQ(x.said(7, 7), "on");
  // Nobody asked for the question.
  EXPECT_EQ(x.said(1, 1), "who");
  EXPECT_EQ(x.said(1, 3),
            x.by->decode(std::vector<token_id>{4, 3}).value() + " From");
}

TEST(answers_of_a_row, are_nothing_where_there_is_none) {
  const asked_row x{byte_tokenizer(), "it is me"};
  EXPECT_EQ(x.said(0, 0), "");
  EXPECT_EQ(x.said(99, 99), "") << "nothing is there";
  EXPECT_EQ(x.said(4, 5), "it");
}

TEST(answers_of_a_row, end_where_the_row_is_cut_off) {
  // who, an end, "it is ", an end.
  const asked_row x{byte_tokenizer(), "it is far", {.context = 11}};
  ASSERT_TRUE(x.made.is_cut);
  ASSERT_EQ(x.made.ids.size(), 11u);
  EXPECT_EQ(x.said(4, 8), "it is");
  EXPECT_EQ(x.said(4, 9), "it is") << "of the last word there is a blank";
  EXPECT_EQ(x.said(7, 99), x.said(7, 10));
}

TEST(answers_of_a_row, go_on_in_a_later_window) {
  const test::scratch_folder folder;
  // CLS who SEP from 1990 - 1995 SEP, CLS who SEP 1995 on ##ward SEP
  const asked_row x{
    of_words(folder), "From 1990-1995  Onward", {.context = 8, .stride = 1}};
  ASSERT_EQ(x.made.ids.size(), 7u);
  ASSERT_EQ(x.from.first, 3u);
  EXPECT_EQ(x.made.skipped, 3u);
  EXPECT_EQ(x.said(4, 5), "Onward");
  EXPECT_EQ(x.said(3, 3), "1995") << "of its word there is a part";
  EXPECT_EQ(x.said(3, 5), "1995 Onward");
  EXPECT_EQ(x.said(0, 0), "");
}

} // namespace troupe::models::asked_text_test
