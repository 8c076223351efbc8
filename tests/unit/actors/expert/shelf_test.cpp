#include "actors/expert/shelf.hpp"

#include <gtest/gtest.h>

namespace troupe::actors::shelf_test {

namespace {

/// One line of two blocks: two factors of three ranks, which may travel in
/// part, and a value that may not.
const models::layout blocks = [] {
  models::layout x;
  x.blocks.resize(2);
  auto& rows = x.blocks[0];
  auto& whole = x.blocks[1];
  rows.id = {1};
  rows.rank = 3;
  rows.tensors = {{"u", {3, 1}}, {"v", {3, 1}}};
  rows.size = 6;
  whole.id = {2};
  whole.size = 1;
  return x;
}();

messages::version_published version_of(std::uint64_t n, std::uint64_t round) {
  const auto f = static_cast<float>(n);
  return {.line = {1},
          .head = {n},
          .round = {round},
          .blocks =
            {{.block = {1},
              .values = share({f, 1, 2, 3, 4, 5}),
              .moments = {},
              .digest = {}},
             {.block = {2}, .values = share({f}), .moments = {}, .digest = {}}},
          .merged = {{{1}, {n}}}};
}

/// Versions 0 to 4 of rounds 0, 2, 2, 4, 6; the last three are kept.
shelf filled() {
  shelf x{{.line = {1}, .versions_max = 3}, version_of(0, 0)};
  x.add(version_of(1, 2));
  x.add(version_of(2, 2));
  x.add(version_of(3, 4));
  x.add(version_of(4, 6));
  return x;
}

messages::serve_requested asked(messages::want wanted,
                                std::uint64_t cut = 100) {
  wanted.line = {1};
  return {.visit = {{3}, {5}}, .leg = 1, .wanted = wanted, .cut = {cut}};
}

version served(const shelf& x, const messages::serve_requested& request) {
  return x.serve(request, blocks).base;
}

} // namespace

TEST(shelf, serves_the_newest_and_says_to_whom) {
  const auto answer = filled().serve(asked({}), blocks);
  EXPECT_EQ(answer.base, version{4});
  EXPECT_EQ(answer.visit, (visit_id{{3}, {5}}));
  EXPECT_EQ(answer.leg, 1u);
  EXPECT_EQ(answer.line, line_id{1});
  EXPECT_EQ(answer.unchanged, 0);
  ASSERT_EQ(answer.blocks.size(), 2u);
  EXPECT_EQ(*answer.blocks[0].values, (std::vector<float>{4, 1, 2, 3, 4, 5}));
}

TEST(shelf, serves_nothing_after_the_cut) {
  const auto testee = filled();
  EXPECT_EQ(served(testee, asked({}, 6)), version{4});
  EXPECT_EQ(served(testee, asked({}, 5)), version{3});
  EXPECT_EQ(served(testee, asked({}, 2)), version{2});
  EXPECT_EQ(served(testee, asked({}, 1)), version{2}); // The oldest: 0 is gone.
}

TEST(shelf, serves_the_version_that_a_resumed_visit_had) {
  const auto testee = filled();
  EXPECT_EQ(served(testee, asked({.exact = {3}})), version{3});
  EXPECT_EQ(served(testee, asked({.exact = {4}}, 2)),
            version{4}); // It has it already.
  EXPECT_EQ(served(testee, asked({.exact = {1}})),
            version{4}); // No longer here.
}

TEST(shelf, does_not_send_what_the_client_holds) {
  const auto testee = filled();
  const auto same = testee.serve(asked({.held = {4}}), blocks);
  EXPECT_EQ(same.unchanged, 1);
  EXPECT_EQ(same.base, version{4});
  EXPECT_TRUE(same.blocks.empty());
  const auto older = testee.serve(asked({.held = {3}}), blocks);
  EXPECT_EQ(older.unchanged, 0);
  EXPECT_EQ(older.blocks.size(), 2u);
}

TEST(shelf, sends_the_first_rows_of_each_factor) {
  const auto testee = filled();
  const auto two = testee.serve(asked({.rank = 2}), blocks);
  EXPECT_EQ(*two.blocks[0].values, (std::vector<float>{4, 1, 3, 4}));
  EXPECT_EQ(*two.blocks[1].values, std::vector<float>{4});
  for (const std::uint32_t rank : {0, 3, 9})
    EXPECT_EQ(
      testee.serve(asked({.rank = rank}), blocks).blocks[0].values->size(), 6u);
}

TEST(shelf, sends_what_is_rounded_and_keeps_the_version) {
  auto rounded = blocks;
  for (auto& x : rounded.blocks)
    x.sent = sent_as::bf16;
  auto made = version_of(1, 1);
  made.blocks[0].values = share({1.01f, 2, 3, 4, 5.02f, 6});
  const shelf testee{{.line = {1}}, made};
  const auto whole = testee.serve(asked({}), rounded);
  EXPECT_EQ(*whole.blocks[0].values,
            (std::vector{1.0078125f, 2.f, 3.f, 4.f, 5.03125f, 6.f}));
  const auto part = testee.serve(asked({.rank = 2}), rounded);
  EXPECT_EQ(*part.blocks[0].values,
            (std::vector{1.0078125f, 2.f, 4.f, 5.03125f}));
  for (const auto& x : {whole, part})
    for (const auto& y : x.blocks)
      EXPECT_TRUE(y.values.is_bf16());
  EXPECT_EQ(made.blocks[0].values->front(), 1.01f);
}

TEST(shelf, keeps_a_bounded_number_in_order_whatever_is_announced) {
  auto testee = filled();
  testee.add(version_of(4, 50)); // Announced again.
  testee.add(version_of(2, 50)); // Late.
  EXPECT_EQ(testee.head(), version{4});
  EXPECT_EQ(served(testee, asked({}, 6)), version{4});
  EXPECT_EQ(served(testee, asked({.exact = {2}}, 100)), version{2});
  testee.add(version_of(9, 9));
  EXPECT_EQ(testee.head(), version{9});
  EXPECT_EQ(served(testee, asked({}, 0)), version{3});
}

TEST(shelf, whole_blocks_are_not_copied) {
  const auto first = version_of(0, 0);
  const shelf testee{{.line = {1}}, first};
  EXPECT_EQ(testee.serve(asked({}), blocks).blocks[0].values,
            first.blocks[0].values);
}

TEST(shelf, holds_as_much_as_there_is_room_for_and_always_the_head) {
  for (const auto& [bytes, oldest] :
       {std::pair{0u, 4u}, {27u, 4u}, {28u, 3u}, {56u, 2u}, {1000u, 0u}}) {
    shelf x{{.line = {1}, .versions_max = 18, .bytes_max = bytes},
            version_of(0, 0)};
    for (std::uint64_t n = 1; n <= 4; ++n)
      x.add(version_of(n, n));
    EXPECT_EQ(x.head(), version{4});
    EXPECT_EQ(served(x, asked({}, 0)), version{oldest}) << bytes;
  }
}

TEST(shelf, says_what_the_store_is_to_be_asked_for) {
  const auto testee = filled(); // Versions 2, 3 and 4, of rounds 2, 4 and 6.
  EXPECT_FALSE(testee.lacks(asked({})));
  EXPECT_FALSE(testee.lacks(asked({.exact = {3}})));
  EXPECT_FALSE(testee.lacks(asked({.exact = {9}}))) << "nobody has it";
  const auto named = testee.lacks(asked({.exact = {1}}));
  ASSERT_TRUE(named);
  EXPECT_EQ(named->line, line_id{1});
  EXPECT_EQ(named->exact, version{1});
  const auto cut = testee.lacks(asked({}, 1));
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->exact, messages::no_version);
  EXPECT_EQ(cut->cut, round_number{1});
  const auto answer =
    testee.serve(asked({.exact = {1}}), version_of(1, 2), blocks);
  EXPECT_EQ(answer.base, version{1});
  EXPECT_EQ((*answer.blocks[0].values)[0], 1);
  // A line that has not begun has nothing older.
  const shelf first{{.line = {1}}, version_of(0, 5)};
  EXPECT_FALSE(first.lacks(asked({}, 1)));
}

} // namespace troupe::actors::shelf_test
