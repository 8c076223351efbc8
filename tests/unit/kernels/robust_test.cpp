#include "kernels/robust.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "core/random.hpp"

namespace troupe::kernels::robust_test {

namespace {

using floats = std::vector<float>;
using doubles = std::vector<double>;

/// Offers of our own, and the views that the rules take.
struct offers {
  std::vector<floats> deltas;
  doubles discounts;
  std::vector<std::span<const float>> views;

  explicit offers(std::vector<floats> xs, double discount = 1)
    : deltas(std::move(xs)),
      discounts(deltas.size(), discount),
      views(deltas.begin(), deltas.end()) {
    // nop
  }

  offer_set set() const {
    return {views, discounts};
  }

  std::size_t size() const {
    return deltas.empty() ? 0 : deltas[0].size();
  }
};

offers draw(std::size_t count, std::size_t size, std::uint64_t seed) {
  random_stream random{seed};
  std::vector<floats> result(count, floats(size));
  for (auto& delta : result)
    for (auto& x : delta)
      x = static_cast<float>(random.normal());
  offers drawn{std::move(result)};
  for (auto& x : drawn.discounts)
    x = 1 - 0.5 * random.uniform();
  return drawn;
}

doubles median_of(const offers& x) {
  doubles out(x.size());
  EXPECT_TRUE(coordinate_median(x.set(), out));
  return out;
}

doubles trimmed_of(const offers& x, std::uint32_t trim) {
  doubles out(x.size());
  EXPECT_TRUE(trimmed_mean(x.set(), trim, out));
  return out;
}

doubles krum_of(const offers& x, std::uint32_t bad, std::uint32_t keep) {
  doubles out(x.size());
  EXPECT_TRUE(krum(x.set(), bad, keep, out));
  return out;
}

void expect_near(const doubles& found, const doubles& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t j = 0; j < found.size(); ++j)
    ASSERT_NEAR(found[j], expected[j], 1e-12) << j;
}

double value(const offers& x, std::size_t i, std::size_t j) {
  return x.discounts[i] * x.deltas[i][j];
}

/// Without the `trim` most extreme on each side, one after the other.
doubles slow_trimmed(const offers& x, std::size_t trim) {
  doubles out;
  for (std::size_t j = 0; j < x.size(); ++j) {
    std::multiset<double> column;
    for (std::size_t i = 0; i < x.deltas.size(); ++i)
      column.insert(value(x, i, j));
    for (std::size_t k = 0; k < trim; ++k) {
      column.erase(column.begin());
      column.erase(std::prev(column.end()));
    }
    double sum = 0;
    for (double v : column)
      sum += v;
    out.push_back(sum / static_cast<double>(column.size()));
  }
  return out;
}

doubles slow_krum(const offers& x, std::size_t bad, std::size_t keep) {
  const auto n = x.deltas.size();
  std::vector<std::pair<double, std::size_t>> scores;
  for (std::size_t a = 0; a < n; ++a) {
    std::multiset<double> distances;
    for (std::size_t b = 0; b < n; ++b) {
      double sum = 0;
      for (std::size_t j = 0; j < x.size(); ++j)
        sum +=
          (value(x, a, j) - value(x, b, j)) * (value(x, a, j) - value(x, b, j));
      if (a != b)
        distances.insert(sum);
    }
    double score = 0;
    auto nearest = distances.begin();
    for (std::size_t k = 0; k < n - bad - 2; ++k)
      score += *nearest++;
    scores.emplace_back(score, a);
  }
  std::sort(scores.begin(), scores.end());
  doubles out(x.size());
  for (std::size_t k = 0; k < keep; ++k)
    for (std::size_t j = 0; j < x.size(); ++j)
      out[j] += value(x, scores[k].second, j) / static_cast<double>(keep);
  return out;
}

} // namespace

TEST(robust, the_median_by_hand) {
  EXPECT_EQ(median_of(offers{{{3, 1}, {1, 100}, {2, -5}}}), (doubles{2, 1}));
  EXPECT_EQ(median_of(offers{{{3}, {1}, {2}, {10}}}), doubles{2.5});
}

TEST(robust, the_median_of_an_odd_number_is_one_of_the_values) {
  for (std::size_t n : {1, 3, 5, 31, 101}) {
    const auto x = draw(n, 40, n);
    const auto found = median_of(x);
    for (std::size_t j = 0; j < x.size(); ++j) {
      std::size_t below = 0, above = 0;
      for (std::size_t i = 0; i < n; ++i) {
        below += value(x, i, j) < found[j];
        above += value(x, i, j) > found[j];
      }
      ASSERT_EQ(below, n / 2);
      ASSERT_EQ(above, n / 2);
    }
  }
}

TEST(robust, trimming_agrees_with_removing_the_extremes_one_by_one) {
  // Sizes around the widths of a tile.
  for (std::size_t size : {1, 15, 17, 1023, 1024, 1025})
    for (std::uint32_t trim : {0, 1, 4}) {
      const auto x = draw(10, size, size);
      expect_near(trimmed_of(x, trim), slow_trimmed(x, trim));
    }
  const auto many = draw(1500, 40, 7);
  expect_near(trimmed_of(many, 700), slow_trimmed(many, 700));
}

TEST(robust, trimming_all_but_the_middle_is_the_median) {
  const auto odd = draw(7, 100, 1), even = draw(8, 100, 2);
  EXPECT_EQ(trimmed_of(odd, 3), median_of(odd));
  EXPECT_EQ(trimmed_of(even, 3), median_of(even));
}

TEST(robust, krum_agrees_with_the_definition) {
  for (std::size_t size : {1, 31, 33, 4095, 4097})
    for (std::uint32_t bad : {0, 1, 3})
      for (std::uint32_t keep : {1, 2, 5}) {
        const auto x = draw(9, size, size + bad);
        expect_near(krum_of(x, bad, keep), slow_krum(x, bad, keep));
      }
}

TEST(robust, krum_by_hand_takes_the_crowd_and_not_the_outlier) {
  // With one bad each has 5 - 1 - 2 = 2 nearest others: 10, 5 and 13.
  const offers x{{{1}, {2}, {4}, {100}, {200}}};
  EXPECT_EQ(krum_of(x, 1, 1), doubles{2});
  EXPECT_EQ(krum_of(x, 1, 2), doubles{1.5});
}

TEST(robust, ties_go_to_the_earlier_offer) {
  // Of 0, 1, 2 and 3 those in the middle have two neighbours each.
  EXPECT_EQ(krum_of(offers{{{2}, {1}, {0}, {3}, {100}}}, 1, 1), doubles{2});
  EXPECT_EQ(krum_of(offers{{{1}, {2}, {0}, {3}, {100}}}, 1, 1), doubles{1});
}

TEST(robust, offers_that_agree_are_not_changed) {
  const offers x{std::vector<floats>(7, {0.1f, -3, 0})};
  const doubles expected{static_cast<double>(0.1f), -3, 0};
  EXPECT_EQ(median_of(x), expected);
  expect_near(trimmed_of(x, 2), expected);
  expect_near(krum_of(x, 2, 3), expected);
}

TEST(robust, no_order_of_the_offers_changes_a_bit_of_median_and_trimmed_mean) {
  const auto x = draw(9, 50, 3);
  const auto median = median_of(x), trimmed = trimmed_of(x, 2);
  random_stream random{4};
  std::vector<std::size_t> order{0, 1, 2, 3, 4, 5, 6, 7, 8};
  for (int k = 0; k < 30; ++k) {
    random.shuffle(order);
    auto y = x;
    for (std::size_t i = 0; i < order.size(); ++i) {
      y.views[i] = x.views[order[i]];
      y.discounts[i] = x.discounts[order[i]];
    }
    ASSERT_EQ(median_of(y), median);
    ASSERT_EQ(trimmed_of(y, 2), trimmed);
  }
}

TEST(robust, the_order_of_two_kinds_of_zero_cannot_be_seen) {
  for (const auto& x :
       {offers{{{0.f}, {-0.f}, {-0.f}}}, offers{{{-0.f}, {0.f}, {-0.f}}},
        offers{{{-0.f}, {-0.f}, {0.f}}}})
    for (const auto& found : {median_of(x), trimmed_of(x, 1), krum_of(x, 0, 1)})
      EXPECT_FALSE(std::signbit(found[0]));
}

TEST(robust, a_minority_cannot_move_them_far) {
  // Two of ten send anything; what comes out stays among the honest ones.
  for (float evil : {-1e9f, 1e9f}) {
    auto x = draw(10, 100, 5);
    std::fill(x.discounts.begin(), x.discounts.end(), 1.0);
    for (std::size_t i : {3, 8})
      std::fill(x.deltas[i].begin(), x.deltas[i].end(), evil);
    for (const auto& found : {median_of(x), trimmed_of(x, 2), krum_of(x, 2, 4)})
      for (double v : found)
        ASSERT_LT(std::abs(v), 6);
  }
}

TEST(robust, a_discount_multiplies_what_is_read) {
  const offers x{{{4}, {8}, {16}}, 0.25};
  EXPECT_EQ(median_of(x), doubles{2});
  EXPECT_EQ(krum_of(x, 0, 3), doubles{7.0 / 3});
}

TEST(robust, refuses_what_it_cannot_decide) {
  const offers x{{{1}, {2}, {3}, {4}}};
  doubles out{7};
  const auto text = [](const result<void>& answer) {
    return answer ? "accepted" : answer.error().context;
  };
  EXPECT_EQ(text(trimmed_mean(x.set(), 2, out)),
            "trimming 2 on each side leaves none of 4 offers");
  EXPECT_EQ(text(krum(x.set(), 2, 1, out)),
            "Krum with 2 bad offers needs at least 7, found 4");
  EXPECT_EQ(text(krum(x.set(), 0, 0, out)),
            "Krum keeps from 1 to 4 offers, found 0");
  EXPECT_EQ(text(krum(x.set(), 0, 5, out)),
            "Krum keeps from 1 to 4 offers, found 5");
  EXPECT_EQ(text(coordinate_median({}, out)),
            "0 offers with 0 discounts; each of at least one offer needs one");
  doubles two(2);
  EXPECT_EQ(text(coordinate_median(x.set(), two)),
            "offer 0 has 1 values, the output has 2");
  const offers bad{{{1}, {std::numeric_limits<float>::infinity()}, {2}}};
  EXPECT_EQ(coordinate_median(bad.set(), out).error().code,
            errc::malformed_values);
  EXPECT_EQ(out, doubles{7});
}

} // namespace troupe::kernels::robust_test
