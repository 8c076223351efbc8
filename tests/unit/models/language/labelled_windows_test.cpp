// Long texts in which an answer is looked for, as windows that overlap.

#include "models/language/labelled_rows.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/scratch_folder.hpp"

namespace troupe::models::labelled_windows_test {

namespace {

using ::testing::ElementsAre;

struct read_row {
  std::vector<std::int32_t> said, targets;
};

read_row at(const labelled_rows& from, split part, std::uint32_t row) {
  const std::vector<std::int32_t> none(from.context(), 77);
  read_row x{none, none};
  from.read(part, row, x.said, x.targets);
  return x;
}

std::string bytes_of_answer(const read_row& x) {
  std::string bytes;
  for (auto i = x.targets[0]; i <= x.targets[1]; ++i)
    bytes += static_cast<char>(x.said[static_cast<std::size_t>(i)]);
  return bytes;
}

struct labelled_windows : ::testing::Test {
  labelled_windows() {
    how.files.folder = folder.path();
    how.files.task = text_task::span;
    how.context = 24;
    how.stride = 5;
    how.validation_share = how.test_share = 0.2;
    how.seed = 1;
  }

  void write(const std::string& lines) const {
    std::ofstream{folder.path() + "/a.jsonl", std::ios::binary} << lines;
  }

  std::shared_ptr<const labelled_rows> load() const {
    const auto found = labelled_rows::load(how, byte_tokenizer());
    EXPECT_TRUE(found) << found.error().context;
    return found ? *found : nullptr;
  }

  test::scratch_folder folder;
  labelled_options how;
};

} // namespace

TEST_F(labelled_windows, learns_from_all_windows_of_a_long_text) {
  how.validation_share = how.test_share = 0;
  write("{\"text\": \"it is me now\", \"question\": \"who\", "
        "\"answer\": \"me\"}\n"
        "{\"text\": \"it is far behind all that fits, me\", "
        "\"question\": \"who\", \"answer\": \"me\"}\n");
  const auto rows = load();
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->left_out(), 0u);
  EXPECT_EQ(rows->texts(split::train), 2u);
  EXPECT_THAT(rows->clients().train[0], ElementsAre(0, 1, 2, 3));
  // Behind the question and its end 19 tokens, of which five come again.
  const auto first = at(*rows, split::train, 1),
             second = at(*rows, split::train, 2),
             last = at(*rows, split::train, 3);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(first.said[4 + 14 + i], second.said[4 + i]) << i;
  EXPECT_EQ(second.said[4], 'n');
  EXPECT_EQ(second.said[23], 256);
  for (const auto& x : {first, second}) {
    EXPECT_EQ(x.targets[0], 0);
    EXPECT_EQ(x.targets[1], 0);
  }
  EXPECT_EQ(last.targets[0], 7);
  EXPECT_EQ(last.targets[1], 9);
  EXPECT_EQ(last.said[7], ' ');
  EXPECT_EQ(last.said[9], 'e');
  // Who learns from a window is not judged by others with it.
  EXPECT_EQ(rows->later_of(split::train, 1).count, 0u);
}

TEST_F(labelled_windows, is_judged_by_all_windows_of_a_text) {
  std::string lines;
  for (int i = 0; i < 40; ++i)
    lines += "{\"text\": \"" + std::to_string(i)
             + " is far behind all that fits, me\", \"question\": \"who\", "
               "\"answer\": \"me\"}\n";
  write(lines);
  const auto rows = load();
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->left_out(), 0u);
  const auto& clients = rows->clients();
  const auto expect_answers = [&](split part,
                                  const std::vector<std::uint32_t>& own) {
    EXPECT_FALSE(own.empty());
    for (const auto row : own) {
      ASSERT_LT(row, rows->texts(part));
      const auto later = rows->later_of(part, row);
      EXPECT_GE(later.count, 1u);
      EXPECT_GE(later.first, rows->texts(part));
      EXPECT_EQ(at(*rows, part, row).targets[1], 0);
      EXPECT_EQ(rows->asked_of(part, row).size(), 3u);
    }
  };
  expect_answers(split::train, clients.own_validation[0]);
  expect_answers(split::test, clients.test[0]);
  EXPECT_EQ(rows->texts(split::test), clients.test[0].size());
}

TEST_F(labelled_windows, say_what_their_text_says) {
  std::string lines;
  for (int i = 10; i < 50; ++i) {
    const auto answer = "me and " + std::to_string(i);
    lines += "{\"text\": \"it is far behind all that fits, " + answer
             + "\", \"question\": \"who\", \"answer\": \"" + answer + "\"}\n";
  }
  write(lines);
  const auto rows = load();
  ASSERT_TRUE(rows && rows->answers());
  const auto& answers = *rows->answers();
  std::size_t answered = 0;
  for (const auto row : rows->clients().test[0]) {
    const auto meant = answers.meant(row).front();
    EXPECT_EQ(answers.said(row, {4, 8}), "it is");
    const auto later = rows->later_of(split::test, row);
    for (std::uint32_t i = 0; i < later.count; ++i) {
      const auto window = later.first + i;
      EXPECT_EQ(answers.meant(window).front(), meant);
      const auto x = at(*rows, split::test, window);
      if (x.targets[0] == 0)
        continue;
      ++answered;
      const auto said =
        answers.said(window, {static_cast<std::size_t>(x.targets[0]),
                              static_cast<std::size_t>(x.targets[1])});
      EXPECT_EQ(said, meant);
      EXPECT_EQ(' ' + said, bytes_of_answer(x));
    }
  }
  EXPECT_EQ(answered, rows->texts(split::test)) << "one window of each";
}

} // namespace troupe::models::labelled_windows_test
