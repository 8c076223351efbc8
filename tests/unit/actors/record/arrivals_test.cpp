// What is kept of offers in arrivals/, and what is found there.

#include "actors/record/arrivals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "tests/support/scratch_folder.hpp"

namespace troupe::actors::arrivals_test {

namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

messages::part_offered part(std::uint64_t client, float value) {
  return {.visit = {{client}, {2}},
          .line = {3},
          .lines_total = 4,
          .round = {5},
          .base = {6},
          .blocks = {{{7}, 8, 9.5, share({value, -value}), 0.25},
                     {{10}, 0, 1, share({2 * value}), 1}},
          .loss = 0.5};
}

fs::path folder_of(const test::scratch_folder& x) {
  return fs::path{x.path()} / "arrivals";
}

std::shared_ptr<arrivals> opened(const test::scratch_folder& x,
                                 bool outlives = true) {
  return make_arrivals({.folder = folder_of(x), .outlives = outlives});
}

void expect_head(const messages::part_offered& x,
                 const messages::part_offered& y) {
  EXPECT_EQ(x.visit, y.visit);
  EXPECT_EQ(x.line, y.line);
  EXPECT_EQ(x.lines_total, y.lines_total);
  EXPECT_EQ(x.round, y.round);
  EXPECT_EQ(x.base, y.base);
  EXPECT_EQ(x.loss, y.loss);
  ASSERT_EQ(x.blocks.size(), y.blocks.size());
  for (std::size_t i = 0; i < x.blocks.size(); ++i) {
    EXPECT_EQ(x.blocks[i].block, y.blocks[i].block);
    EXPECT_EQ(x.blocks[i].rank, y.blocks[i].rank);
    EXPECT_EQ(x.blocks[i].weight, y.blocks[i].weight);
    EXPECT_EQ(x.blocks[i].share, y.blocks[i].share);
  }
}

} // namespace

TEST(arrivals, the_next_process_finds_what_was_kept) {
  const test::scratch_folder scratch;
  ASSERT_TRUE(opened(scratch)->keep(part(2, 1)));
  ASSERT_TRUE(opened(scratch)->keep(part(1, 3)));
  const auto next = opened(scratch);
  const auto found = next->found();
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2u);
  expect_head((*found)[0], part(1, 3));
  expect_head((*found)[1], part(2, 1));
  EXPECT_TRUE(messages::is_without_values((*found)[0]));
  const auto values = next->values({3}, {{1}, {2}}, {10});
  ASSERT_TRUE(values);
  EXPECT_EQ(**values, std::vector<float>{6});
  const auto whole = next->read({3}, {{2}, {2}});
  ASSERT_TRUE(whole);
  EXPECT_EQ(*whole->blocks[0].delta, (std::vector<float>{1, -1}));
}

TEST(arrivals, a_block_is_read_part_by_part_and_checked_with_the_first) {
  const test::scratch_folder scratch;
  ASSERT_TRUE(opened(scratch)->keep(part(1, 3)));
  const auto read = [&](values_part of) {
    return opened(scratch)->values({3}, {{1}, {2}}, {7}, of);
  };
  const auto first = read({.first = 0, .count = 1});
  ASSERT_TRUE(first);
  EXPECT_EQ(**first, std::vector<float>{3});
  const auto second = read({.first = 1, .count = 5});
  ASSERT_TRUE(second);
  EXPECT_EQ(**second, std::vector<float>{-3});
  EXPECT_FALSE(read({.first = 3, .count = 1}));
  // A byte of the second value.
  const auto path = folder_of(scratch) / "3-1-2";
  const auto at = static_cast<std::streamoff>(fs::file_size(path)) - 5;
  std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
  file.seekg(at);
  const auto byte = static_cast<char>(file.get());
  file.seekp(at);
  file.put(static_cast<char>(byte ^ 1));
  file.close();
  const auto damaged = read({.first = 0, .count = 1});
  ASSERT_FALSE(damaged);
  EXPECT_THAT(damaged.error().context, HasSubstr("is damaged"));
}

TEST(arrivals, what_is_dropped_is_gone) {
  const test::scratch_folder scratch;
  const auto testee = opened(scratch);
  const std::array visits{visit_id{{1}, {2}}};
  EXPECT_TRUE(testee->drop({3}, visits)); // It is not there, and never was.
  ASSERT_TRUE(testee->keep(part(1, 1)));
  EXPECT_TRUE(testee->drop({3}, visits));
  EXPECT_TRUE(testee->drop({3}, visits));
  EXPECT_TRUE(testee->found()->empty());
  EXPECT_FALSE(testee->values({3}, visits[0], {7}));
}

TEST(arrivals, a_spool_is_tidied_and_files_of_others_stay) {
  const test::scratch_folder scratch;
  ASSERT_TRUE(opened(scratch, false)->keep(part(1, 1)));
  std::ofstream{folder_of(scratch) / "3-4-5.17-1.unfinished"} << "half";
  std::ofstream{folder_of(scratch) / "notes"} << "a person's";
  EXPECT_TRUE(opened(scratch, false)->found()->empty());
  EXPECT_FALSE(fs::exists(folder_of(scratch) / "3-1-2"));
  EXPECT_FALSE(fs::exists(folder_of(scratch) / "3-4-5.17-1.unfinished"));
  EXPECT_TRUE(fs::exists(folder_of(scratch) / "notes"));
}

TEST(arrivals, damage_is_named) {
  const test::scratch_folder scratch;
  const auto path = folder_of(scratch) / "3-1-2";
  const auto keep = [&] { ASSERT_TRUE(opened(scratch)->keep(part(1, 1))); };
  keep();
  fs::resize_file(path, fs::file_size(path) - 1);
  const auto cut = opened(scratch)->found();
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().context, HasSubstr("3-1-2: is damaged"));
  keep();
  const auto flip = [&](std::streamoff at) {
    std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
    file.seekg(at);
    const auto byte = static_cast<char>(file.get());
    file.seekp(at);
    file.put(static_cast<char>(byte ^ 1));
  };
  flip(static_cast<std::streamoff>(fs::file_size(path)) - 1);
  EXPECT_TRUE(opened(scratch)->found()); // Heads alone are read at the start.
  EXPECT_TRUE(opened(scratch)->values({3}, {{1}, {2}}, {7}));
  const auto flipped = opened(scratch)->values({3}, {{1}, {2}}, {10});
  ASSERT_FALSE(flipped);
  EXPECT_THAT(flipped.error().context, HasSubstr("is damaged"));
  const auto report = examine_arrivals(folder_of(scratch));
  EXPECT_EQ(report.whole, 0u);
  EXPECT_EQ(report.damaged.size(), 1u);
  keep();
  EXPECT_EQ(examine_arrivals(folder_of(scratch)).whole, 1u);
  flip(30);
  EXPECT_FALSE(opened(scratch)->found());
  keep();
  fs::rename(path, folder_of(scratch) / "3-1-9");
  EXPECT_FALSE(opened(scratch)->found());
}

TEST(arrivals, of_a_visit_one_of_whose_versions_is_lost_come_too_late) {
  std::vector<messages::part_offered> found(4);
  const std::vector<std::array<std::uint64_t, 3>> of{
    {1, 1, 3}, {1, 2, 5}, {2, 1, 4}, {2, 2, 4}}; // Client, line, base.
  for (std::size_t i = 0; i < of.size(); ++i) {
    found[i].visit = {{of[i][0]}, {7}};
    found[i].line = {of[i][1]};
    found[i].base = {of[i][2]};
  }
  mark_lost(found, {{{1}, {4}}, {{2}, {4}}});
  std::vector<bool> late;
  for (const auto& x : found)
    late.push_back(x.late);
  EXPECT_EQ(late, (std::vector{true, true, false, false}));
}

TEST(arrivals, a_folder_that_cannot_be_made_is_an_answer) {
  const test::scratch_folder scratch;
  std::ofstream{folder_of(scratch)} << "a file";
  const auto kept = opened(scratch)->keep(part(1, 1));
  ASSERT_FALSE(kept);
  EXPECT_THAT(kept.error().context, HasSubstr("arrivals"));
}

} // namespace troupe::actors::arrivals_test
