#include "models/data/csv.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace troupe::models::csv_test {

namespace {

namespace fs = std::filesystem;

const std::vector<float>& values(const example_set& x) {
  return std::get<std::vector<float>>(x.inputs.at(0).values);
}

csv_table parsed(const std::string& text, const csv_options& opts = {}) {
  auto x = parse_csv(text, "some.csv", opts);
  EXPECT_TRUE(x) << x.error().context;
  return x ? *x
           : csv_table{.examples = {.size = 0, .inputs = {{}}, .labels = {}},
                       .features = {},
                       .partition = {}};
}

std::string refusal(const std::string& text, const csv_options& opts = {}) {
  const auto x = parse_csv(text, "some.csv", opts);
  if (x)
    return "read";
  EXPECT_EQ(x.error().code, errc::invalid_data);
  return x.error().context;
}

fs::path written(const std::string& name, const std::string& text) {
  const auto path = fs::path{::testing::TempDir()} / ("troupe_" + name);
  std::ofstream{path, std::ios::binary} << text;
  return path;
}

} // namespace

TEST(csv, takes_labels_features_and_the_partition_column_apart) {
  const auto x = parsed("height,town,label,width\n"
                        "1.5,Ulm,2,-3\n"
                        "4e2,Bern,0,+7\n",
                        {.partition = "town"});
  EXPECT_EQ(x.features, (std::vector<std::string>{"height", "width"}));
  EXPECT_EQ(x.examples.inputs[0].shape, std::vector<std::int64_t>{2});
  EXPECT_EQ(values(x.examples), (std::vector<float>{1.5, -3, 400, 7}));
  EXPECT_EQ(x.examples.labels, (std::vector<std::int64_t>{2, 0}));
  EXPECT_EQ(x.partition, (std::vector<std::string>{"Ulm", "Bern"}));
}

TEST(csv, reads_what_spreadsheets_write) {
  const auto plain = parsed("a,b c,label\n1,2,0\n3,4,1\n");
  for (const auto* text :
       {"\xef\xbb\xbf"
        "a,b c,label\r\n1,2,0\r\n3,4,1\r\n",
        "\"a\",\"b c\",\"label\"\r\n\"1\",2,0\r\n3,\"4\",\"1\"",
        "a , b c,label\n\n 1,2 ,0\n\n3,4,1\n\n"}) {
    const auto x = parsed(text);
    EXPECT_EQ(x.features, plain.features) << text;
    EXPECT_EQ(values(x.examples), values(plain.examples)) << text;
    EXPECT_EQ(x.examples.labels, plain.examples.labels) << text;
  }
  EXPECT_EQ(values(parsed("a\tlabel\n1\t0\n", {.separator = '\t'}).examples),
            std::vector<float>{1});
  EXPECT_EQ(parsed("a,t,label\n1,\"x \"\"y\"\",\nz\",0\n", {.partition = "t"})
              .partition,
            std::vector<std::string>{"x \"y\",\nz"});
}

TEST(csv, says_where_what_was_found_and_what_would_do) {
  EXPECT_EQ(refusal(""), "some.csv:1: there is no header row");
  EXPECT_EQ(refusal("a,b\n1,2\n"),
            "some.csv:1: no column is named 'label'; the first are 'a', 'b'");
  EXPECT_EQ(
    refusal("a,label\n1,2\n", {.partition = "town"}),
    "some.csv:1: no column is named 'town'; the first are 'a', 'label'");
  EXPECT_EQ(refusal("a,a,label\n"),
            "some.csv:1: two columns have the same name");
  EXPECT_EQ(refusal("label\n1\n"),
            "some.csv:1: there is no column to learn from");
  EXPECT_EQ(refusal("a,label\n"), "some.csv:1: no row follows the header");
  EXPECT_EQ(refusal("a,label\n1,2\n\n1,2,3\n"),
            "some.csv:4: has 3 fields; 2, as in the header, would do");
  EXPECT_EQ(refusal("a,label\n1,2\nabc,2\n"),
            "some.csv:3: column 1 (a) holds 'abc'; a finite number would do");
  EXPECT_EQ(refusal("a,label\nnan,2\n"),
            "some.csv:2: column 1 (a) holds 'nan'; a finite number would do");
  EXPECT_EQ(refusal("a,label\n1e39,2\n"),
            "some.csv:2: column 1 (a) holds '1e39'; a finite number would do");
  EXPECT_EQ(
    refusal("a,label\n1,-1\n"),
    "some.csv:2: column 2 (label) holds '-1'; an integer from 0 to 65535 "
    "would do");
  EXPECT_EQ(
    refusal("a,label\n1,2.5\n", {.classes = 3}),
    "some.csv:2: column 2 (label) holds '2.5'; an integer from 0 to 2 would "
    "do");
  EXPECT_EQ(
    refusal("a,label\n1,3\n", {.classes = 3}),
    "some.csv:2: column 2 (label) holds '3'; an integer from 0 to 2 would "
    "do");
  EXPECT_EQ(refusal("a,label\n\"1,2\n"),
            "some.csv:2: the quote that opens column 1 is not closed before a "
            "separator or the end");
  EXPECT_EQ(refusal("a,label\n\"1\"x,2\n"),
            "some.csv:2: the quote that opens column 1 is not closed before a "
            "separator or the end");
  EXPECT_EQ(
    refusal("a,label\n\"1\n\",2\n"),
    "some.csv:2: column 1 (a) holds '1\\x0a'; a finite number would do");
}

TEST(csv, a_number_that_is_too_small_is_next_to_0_and_a_large_one_is_none) {
  EXPECT_EQ(
    values(parsed("a,b,c,label\n1e-400,-1e-400,+1e-99999,0\n").examples),
    (std::vector<float>{0, 0, 0}));
  const auto tiny = "0." + std::string(400, '0') + "1";
  EXPECT_EQ(values(parsed("a,label\n" + tiny + ",0\n").examples),
            std::vector<float>{0});
  for (const std::string large : {"1e400", "-1e400", "1e99999"})
    EXPECT_EQ(refusal("a,label\n" + large + ",2\n"),
              "some.csv:2: column 1 (a) holds '" + large
                + "'; a finite number would do");
  EXPECT_EQ(refusal("a,label\n1e-400x,2\n"),
            "some.csv:2: column 1 (a) holds '1e-400x'; a finite number would "
            "do");
}

TEST(csv, without_a_line_has_no_rows_where_no_header_is_needed) {
  EXPECT_EQ(refusal("", {.label = "", .may_lack_header = true}),
            "some.csv:1: there are no rows; at least one would do");
}

TEST(csv, every_truncation_of_a_table_is_a_table_or_refused) {
  const std::string text = "a,\"b\",label\r\n1,\"2\",0\r\n3,4,1\r\n";
  std::size_t read = 0;
  for (std::size_t n = 0; n < text.size(); ++n)
    if (const auto x = parse_csv(text.substr(0, n), "some.csv", {})) {
      ++read;
      EXPECT_EQ(values(x->examples).size(), 2 * x->examples.size);
    }
  EXPECT_GT(read, 0u);
}

TEST(csv_files, splits_off_a_test_set_where_none_is_given) {
  std::string text = "x,town,label\n";
  for (int i = 0; i < 100; ++i)
    text += std::to_string(i) + "," + std::to_string(i % 5) + ","
            + std::to_string(i % 3) + "\n";
  const auto path = written("split.csv", text);
  const auto x = read_csv({.train = path, .test_share = 0.2, .seed = 1},
                          {.partition = "town"});
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->name, "troupe_split");
  EXPECT_EQ(x->classes, 3);
  EXPECT_EQ(x->train.size, 80u);
  EXPECT_EQ(x->test.size, 20u);
  // Rows stay whole, and each is in one of the two.
  std::vector<float> all;
  for (const auto* set : {&x->train, &x->test})
    for (std::size_t i = 0; i < set->size; ++i) {
      EXPECT_EQ(set->labels[i], static_cast<int>(values(*set)[i]) % 3);
      all.push_back(values(*set)[i]);
    }
  for (std::size_t i = 0; i < 80; ++i)
    EXPECT_EQ(x->partition_column[i],
              static_cast<int>(values(x->train)[i]) % 5);
  std::sort(all.begin(), all.end());
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(all[static_cast<std::size_t>(i)], static_cast<float>(i));
  const auto other = read_csv({.train = path, .test_share = 0.2, .seed = 2},
                              {.partition = "town"});
  EXPECT_NE(values(other->test), values(x->test));
  EXPECT_FALSE(read_csv({.train = path, .test_share = 1}, {}));
  fs::remove(path);
}

TEST(csv_files, reads_a_test_file_of_the_same_columns) {
  const auto train = written("train.csv", "a,b,label\n1,2,0\n3,4,2\n");
  const auto test = written("test.csv", "a,b,label\n5,6,2\n");
  const auto x = read_csv({.train = train, .test = test}, {});
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->classes, 3);
  EXPECT_EQ(x->train.size, 2u);
  EXPECT_EQ(values(x->test), (std::vector<float>{5, 6}));
  const auto text = [&](const std::string& content) {
    written("test.csv", content);
    const auto y = read_csv({.train = train, .test = test}, {});
    return y ? "read" : y.error().context;
  };
  EXPECT_EQ(text("a,b,label\n5,6,3\n"),
            test.string()
              + ":2: column 3 (label) holds '3'; an integer from 0 to 2 "
                "would do");
  EXPECT_EQ(text("b,a,label\n5,6,1\n"),
            test.string() + ":1: the columns differ from those of "
              + train.string() + "; the same names in the same order would do");
  fs::remove(train);
  fs::remove(test);
}

TEST(csv_files, numbers_a_column_of_texts_in_sorted_order) {
  const auto path =
    written("towns.csv", "a,town,label\n1,Ulm,0\n1,Aix,1\n1,Ulm,0\n1,10,0\n");
  const auto x =
    read_csv({.train = path, .test_share = 0}, {.partition = "town"});
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->partition_column, (std::vector<std::int64_t>{2, 1, 2, 0}));
  fs::remove(path);
}

TEST(csv, may_have_no_column_of_labels) {
  const auto x = parsed("a,label\n1,0.5\n2,7\n", {.label = ""});
  EXPECT_EQ(x.features, (std::vector<std::string>{"a", "label"}));
  EXPECT_EQ(values(x.examples), (std::vector<float>{1, 0.5, 2, 7}));
  EXPECT_EQ(x.examples.labels, (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(parsed("a\n1\n", {.label = ""}).examples.size, 1u);
}

} // namespace troupe::models::csv_test
