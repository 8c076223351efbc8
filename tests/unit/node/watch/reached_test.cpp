#include "node/watch/reached.hpp"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/scratch_folder.hpp"

namespace troupe::node {

namespace {

class reached : public ::testing::Test {
protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream{std::filesystem::path{folder.path()} / name,
                  std::ios::app | std::ios::binary}
      << text;
  }

  double found() const {
    return seconds(reached_in(folder.path()));
  }

  const test::scratch_folder folder;
};

} // namespace

TEST_F(reached, is_zero_where_nothing_is_said) {
  EXPECT_EQ(found(), 0);
  write("events.jsonl", "");
  write("metrics.jsonl", "{\"at\":");
  EXPECT_EQ(found(), 0);
}

TEST_F(reached, is_the_last_instant_of_either_record) {
  write("events.jsonl", "{\"at\":1.5,\"event\":\"began\"}\n");
  write("metrics.jsonl", "{\"at\":2.25,\"kind\":\"version\"}\n");
  EXPECT_EQ(found(), 2.25);
  write("events.jsonl", "{\"at\":7,\"event\":\"invited\"}\n{\"at\":9,\"ev");
  EXPECT_EQ(found(), 7);
}

TEST_F(reached, is_found_at_the_end_of_a_long_record) {
  write("events.jsonl", "{\"at\":3}\n" + std::string(3 << 20, ' ') + "\n");
  EXPECT_EQ(found(), 0);
  write("events.jsonl", "{\"at\":4}\n");
  EXPECT_EQ(found(), 4);
}

TEST_F(reached, counts_what_was_merged_before_a_process_went_on) {
  EXPECT_EQ(work_in(folder.path()).visits, 0U);
  write("metrics.jsonl",
        "{\"kind\":\"version\",\"line\":\"a\",\"version\":1,\"merged\":4}\n"
        "{\"kind\":\"version\",\"line\":\"b\",\"version\":1,\"merged\":2}\n"
        "{\"kind\":\"version\",\"line\":\"a\",\"version\":2,\"merged\":3}\n"
        "{\"kind\":\"version\",\"line\":\"a\",\"version\":2,\"merged\":3}\n"
        "{\"kind\":\"evaluation\",\"version\":2}\n{\"kind\":\"ver");
  EXPECT_EQ(work_in(folder.path()).visits, 7U);
}

TEST_F(reached, knows_the_last_round_that_was_scored) {
  EXPECT_EQ(work_in(folder.path()).rounds, 0U);
  write("metrics.jsonl",
        "{\"kind\":\"version\",\"line\":\"a\",\"version\":1,\"round\":30}\n"
        "{\"kind\":\"evaluation\",\"version\":1}\n");
  EXPECT_EQ(work_in(folder.path()).rounds, 0U) << "of a version";
  write("metrics.jsonl",
        "{\"kind\":\"evaluation\",\"version\":0,\"round\":20}\n"
        "{\"kind\":\"evaluation\",\"version\":0,\"round\":5}\n"
        "{\"kind\":\"evaluation\",\"version\":0,\"round\":25");
  EXPECT_EQ(work_in(folder.path()).rounds, 20U);
}

} // namespace troupe::node
