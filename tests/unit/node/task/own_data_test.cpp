// Data that a client brings itself, held against what the run learns from.

#include <gtest/gtest.h>

#include <fstream>

#include "node/task/own_data.hpp"
#include "node/task/workload.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

using node::example_shape;

const example_shape two_values{.inputs = {2}, .classes = 3, .examples_max = 10};

struct own_data : ::testing::Test {
  std::string table(const std::string& rows,
                    const std::string& head = "a,b,label\n") {
    const auto path = at.path() + "/own.csv";
    std::ofstream{path} << head << rows;
    return path;
  }

  std::string refusal(const std::string& path,
                      const example_shape& wanted = two_values) {
    const auto found = node::read_own_data(x, path, wanted);
    EXPECT_FALSE(found);
    if (found)
      return {};
    EXPECT_EQ(found.error().code, errc::invalid_data);
    return found.error().context.substr(found.error().context.find(": "));
  }

  scratch_folder at;
  node::experiment x;
};

} // namespace

TEST_F(own_data, is_of_one_client_at_its_number) {
  x.data.test_fraction = 0.5;
  const auto mine =
    node::read_own_data(x, table("1,2,0\n3,4,1\n5,6,2\n7,8,0\n"), two_values);
  ASSERT_TRUE(mine) << mine.error().context;
  x.clients.clients = 2;
  const auto made = node::materials_of(x, *mine, {4}, two_values, no_model);
  ASSERT_EQ(made.clients.train.size(), 4U);
  for (std::size_t k = 0; k < 3; ++k)
    EXPECT_TRUE(made.clients.train[k].empty());
  EXPECT_EQ(made.clients.train[3].size(), 2U);
  EXPECT_EQ(made.clients.test[3].size(), 2U);
  EXPECT_TRUE(made.clients.own_validation[3].empty());
}

TEST_F(own_data, sets_rows_aside_where_the_run_watches_them) {
  x.stop.metric = node::stop_options::metric_kind::clients_mean;
  x.data.validation = 0.5;
  x.data.test_fraction = 0.2;
  const auto mine = node::read_own_data(
    x, table("1,2,0\n3,4,1\n5,6,2\n7,8,0\n1,1,1\n"), two_values);
  ASSERT_TRUE(mine) << mine.error().context;
  EXPECT_EQ(mine->rows.own_validation.at(0).size(), 2U);
  EXPECT_EQ(mine->rows.train.at(0).size(), 2U);
}

TEST_F(own_data, of_another_shape_is_refused) {
  EXPECT_EQ(
    refusal(table("1,2,3,0\n1,2,3,0\n", "a,b,c,label\n")),
    ": an example has 3 values, and this run learns from examples of 2");
  auto images = two_values;
  images.inputs = {1, 28, 28};
  EXPECT_EQ(refusal(table("1,2,0\n1,2,0\n"), images),
            ": an example has 2 values, and this run learns from examples of 1 "
            "x 28 x 28");
}

TEST_F(own_data, beyond_what_a_client_may_have_is_refused) {
  std::string rows;
  for (int i = 0; i < 20; ++i)
    rows += "1,2,0\n";
  EXPECT_NE(refusal(table(rows)).find("a client of this run has 10 at most"),
            std::string::npos);
}

TEST_F(own_data, with_other_labels_or_without_rows_is_refused) {
  EXPECT_NE(refusal(table("1,2,3\n1,2,0\n")), "");
  EXPECT_NE(refusal(table("")), "");
  EXPECT_NE(refusal(table("1,2\n", "a,b\n")), "");
  EXPECT_NE(refusal(at.path() + "/nothing.csv"), "");
}

} // namespace troupe::test
