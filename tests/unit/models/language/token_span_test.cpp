#include "models/language/token_span.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace troupe::models {

TEST(token_spans, overlap_by_the_tokens_that_both_have) {
  EXPECT_EQ(f1_of({2, 4}, {2, 4}), 1);
  // Two of three, and two of two.
  EXPECT_EQ(f1_of({2, 4}, {3, 4}), 0.8);
  EXPECT_EQ(f1_of({2, 4}, {4, 8}), 0.25);
  EXPECT_EQ(f1_of({2, 4}, {5, 8}), 0);
  EXPECT_EQ(f1_of({5, 8}, {2, 4}), 0);
}

TEST(token_spans, of_no_answer_are_right_or_wrong) {
  EXPECT_EQ(f1_of({0, 0}, {0, 0}), 1);
  EXPECT_EQ(f1_of({0, 3}, {0, 0}), 0);
  EXPECT_EQ(f1_of({0, 0}, {0, 3}), 0);
}

TEST(token_spans, that_are_beyond_a_row_are_never_found) {
  const auto is = token_span::beyond();
  EXPECT_TRUE(is.is_beyond());
  for (const token_span said : {token_span{}, {0, 1}, {1, 1}, {1, 4}}) {
    EXPECT_FALSE(said.is_beyond());
    EXPECT_EQ(f1_of(said, is), 0);
    EXPECT_FALSE(said == is);
  }
}

TEST(token_spans, are_the_best_that_end_behind_their_beginning) {
  //                               begin, end of each
  const std::vector<float> ends{0, 0, 1, 9, 5, 0, 2, 3, 0, 4};
  EXPECT_EQ(best_span(ends, 30), (token_span{1, 1}));
  const std::vector<float> later{0, 0, 1, 3, 5, 0, 2, 3, 0, 4};
  EXPECT_EQ(best_span(later, 30), (token_span{2, 4}));
  EXPECT_EQ(best_span(later, 2), (token_span{2, 3}));
}

TEST(token_spans, are_the_first_of_equals) {
  EXPECT_EQ(best_span(std::vector<float>(6), 30), (token_span{0, 0}));
}

} // namespace troupe::models
