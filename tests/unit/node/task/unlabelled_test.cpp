// Inputs that nobody labelled, held against what a run learned from.

#include <gtest/gtest.h>

#include <fstream>
#include <variant>
#include <vector>

#include "node/task/unlabelled.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::test {

namespace {

using node::example_shape;

struct unlabelled : ::testing::Test {
  std::string table(const std::string& text, const char* name = "inputs.csv") {
    const auto path = at.path() + '/' + name;
    std::ofstream{path} << text;
    return path;
  }

  /// `count` images of zeros.
  std::string images(char count, char height, char width) {
    const auto path = at.path() + "/inputs.idx3-ubyte";
    std::string bytes{"\0\0\x08\x03", 4};
    for (const char extent : {count, height, width})
      bytes += std::string(3, '\0') + extent;
    bytes += std::string(static_cast<std::size_t>(count * height * width), 7);
    std::ofstream{path, std::ios::binary} << bytes;
    return path;
  }

  std::string refusal(const std::string& path, const example_shape& wanted) {
    const auto found = node::read_unlabelled(x, path, wanted);
    EXPECT_FALSE(found);
    if (found)
      return {};
    EXPECT_EQ(found.error().code, errc::invalid_data);
    return found.error().context.substr(path.size());
  }

  scratch_folder at;
  node::experiment x;
};

} // namespace

TEST_F(unlabelled, are_rows_to_answer) {
  const auto found = node::read_unlabelled(x, table("a,b\n1,2\n3,4\n"),
                                           {.inputs = {2}, .classes = 5});
  ASSERT_TRUE(found) << found.error().context;
  const auto& data = *found->data;
  EXPECT_EQ(data.train.size, 2U);
  EXPECT_EQ(data.classes, 5);
  EXPECT_EQ(std::get<std::vector<float>>(data.train.inputs.front().values),
            (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(data.test.size, 0U);
}

TEST_F(unlabelled, may_be_images) {
  const auto found = node::read_unlabelled(
    x, images(3, 2, 4), {.inputs = {1, 2, 4}, .classes = 10});
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_EQ(found->data->train.size, 3U);
  EXPECT_EQ(found->data->train.inputs.front().shape,
            (std::vector<std::int64_t>{1, 2, 4}));
}

TEST_F(unlabelled, of_a_table_are_known_by_its_name) {
  const example_shape two{.inputs = {2}, .classes = 5};
  EXPECT_TRUE(node::read_unlabelled(x, table("a,b\n1,2\n", "A.CSV"), two));
  EXPECT_EQ(refusal(table("", "a.csv.gz"), two),
            ": is a packed table, of which only images are read; the same "
            "unpacked, as a .csv, would do");
}

TEST_F(unlabelled, of_another_shape_are_refused) {
  EXPECT_EQ(refusal(images(1, 3, 3), {.inputs = {1, 2, 2}, .classes = 2}),
            " has examples of 3 x 3, and the run learned from 2 x 2; inputs of "
            "that shape, without a label, would do");
  EXPECT_EQ(
    refusal(table("a,b\n1,2\n"), {.inputs = {1, 2, 2}, .classes = 2}),
    " has examples of 2, and the run learned from 2 x 2; inputs of that "
    "shape, without a label, would do");
}

TEST_F(unlabelled, of_a_table_without_a_header_are_all_of_its_rows) {
  const example_shape two{.inputs = {2}, .classes = 5};
  const auto found = node::read_unlabelled(x, table("1,2\n\n3,+4e0\n"), two);
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_TRUE(found->first_line_is_a_row);
  EXPECT_EQ(
    std::get<std::vector<float>>(found->data->train.inputs.front().values),
    (std::vector<float>{1, 2, 3, 4}));
  // One name is a header.
  const auto named = node::read_unlabelled(x, table("1,b\n3,4\n"), two);
  ASSERT_TRUE(named) << named.error().context;
  EXPECT_FALSE(named->first_line_is_a_row);
  EXPECT_EQ(named->data->train.size, 1U);
}

TEST_F(unlabelled, under_a_header_of_which_some_is_a_number_are_doubted) {
  const auto note = [&](const std::string& text) {
    const auto path = table(text);
    const auto found =
      node::read_unlabelled(x, path, {.inputs = {3}, .classes = 5});
    EXPECT_TRUE(found) << found.error().context;
    if (!found)
      return std::string{};
    EXPECT_EQ(found->data->train.size, 1U);
    EXPECT_EQ(found->note.find(path),
              found->note.empty() ? std::string::npos : 0U);
    return found->note.empty() ? "" : found->note.substr(path.size());
  };
  for (const std::string cell : {"NA", "", "1e400", "1.5.5"})
    EXPECT_EQ(note("1," + cell + ",2\n3,4,5\n"),
              ":1 is taken as a header, though 2 of 3 of its columns are "
              "numbers");
  EXPECT_EQ(note("\na,b,7\n3,4,5\n"),
            ":2 is taken as a header, though 1 of 3 of its columns are "
            "numbers");
  EXPECT_EQ(note("a,b,c\n3,4,5\n"), "");
  EXPECT_EQ(note("a,b,inf\n3,4,5\n"), "");
  EXPECT_EQ(note("3,4,1e-400\n"), "");
}

TEST_F(unlabelled, of_a_table_are_finite_and_as_many_in_each_line) {
  const example_shape two{.inputs = {2}, .classes = 5};
  EXPECT_EQ(refusal(table("a,b,label\n1,2,0\n"), two),
            ":1: has 3 columns, and the run learned from 2; as many, without a "
            "label, would do");
  EXPECT_EQ(refusal(table("\n1,2,0\n"), two),
            ":2: has 3 columns, and the run learned from 2; as many, without a "
            "label, would do");
  EXPECT_EQ(refusal(table("1,2\n3\n"), two),
            ":2: has 1 fields; 2, as in the first row, would do");
  EXPECT_EQ(refusal(table("a,b\n3\n"), two),
            ":2: has 1 fields; 2, as in the header, would do");
  for (const std::string bad : {"nan", "inf", "1e60"}) {
    EXPECT_EQ(refusal(table("1," + bad + "\n"), two),
              ":1: column 2 holds '" + bad + "'; a finite number would do");
    EXPECT_EQ(refusal(table("a,b\n1," + bad + "\n"), two),
              ":2: column 2 (b) holds '" + bad + "'; a finite number would do");
  }
}

TEST_F(unlabelled, have_to_be_there) {
  EXPECT_EQ(refusal(images(0, 2, 2), {.inputs = {1, 2, 2}, .classes = 2}),
            " has no examples; at least one would do");
  const auto labels = at.path() + "/labels.idx1-ubyte";
  std::ofstream{labels, std::ios::binary}
    << std::string{"\0\0\x08\x01\0\0\0\1\3", 9};
  EXPECT_EQ(refusal(labels, {.inputs = {1, 2, 2}, .classes = 2}),
            ": has 1 dimensions; 3 would do, or 4 of images with channels");
  EXPECT_NE(refusal(at.path() + "/nothing.csv", {.inputs = {2}}), "");
}

} // namespace troupe::test
