#pragma once

// Whether visits came to the same.

#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/trainer.hpp"

namespace troupe::test {

/// To the bit, or to the error's text.
inline void expect_same(const result<models::trained>& a,
                        const result<models::trained>& b) {
  ASSERT_EQ(a.has_value(), b.has_value()) << (a ? b : a).error().context;
  if (!a) {
    EXPECT_EQ(a.error().context, b.error().context);
    return;
  }
  EXPECT_EQ(a->loss, b->loss);
  EXPECT_EQ(a->steps, b->steps);
  EXPECT_EQ(a->disclosures, b->disclosures);
  EXPECT_EQ(a->next, b->next);
  ASSERT_EQ(a->parts.size(), b->parts.size());
  for (std::size_t i = 0; i < a->parts.size(); ++i) {
    EXPECT_EQ(a->parts[i].block, b->parts[i].block);
    EXPECT_EQ(a->parts[i].rank, b->parts[i].rank);
    EXPECT_EQ(a->parts[i].weight, b->parts[i].weight);
    EXPECT_EQ(*a->parts[i].delta, *b->parts[i].delta);
  }
}

/// The visits of clients 1, 2, …
inline void expect_same(const std::vector<result<models::trained>>& a,
                        const std::vector<result<models::trained>>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    SCOPED_TRACE("client " + std::to_string(i + 1));
    expect_same(a[i], b[i]);
  }
}

/// Each by itself.
inline std::vector<result<models::trained>>
alone(models::trainer& by, std::span<const models::visit_input> visits) {
  std::vector<result<models::trained>> all;
  for (const auto& x : visits)
    all.push_back(by.train(x));
  return all;
}

} // namespace troupe::test
