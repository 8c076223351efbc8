// Clients with four of ten labels fall into no clusters: why DDOME has a gate
// in place of one expert for each cluster of clients (its appendix I, without
// figures). What shows it is a silhouette: how much nearer a client is to
// others in its cluster than to those in the next, 1 at most.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "models/data/modes.hpp"
#include "models/data/partition.hpp"

namespace troupe::test::ddome_labels_test {

namespace {

using point = std::vector<double>;

double squares_between(const point& a, const point& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

/// The part that each label has in the rows of each client that trains.
std::vector<point> label_shares(const models::dataset& data,
                                const models::partition& parts) {
  std::vector<point> shares;
  for (const auto& counts : models::label_table(data, parts)) {
    double rows = 0;
    for (const auto n : counts)
      rows += static_cast<double>(n);
    if (rows == 0) // Held out.
      continue;
    auto& one = shares.emplace_back();
    for (const auto n : counts)
      one.push_back(static_cast<double>(n) / rows);
  }
  return shares;
}

struct clusters {
  std::vector<std::size_t> of; ///< By point.
  double squares = std::numeric_limits<double>::infinity();
};

/// Each point goes to the nearest centre.
clusters assigned(const std::vector<point>& xs,
                  const std::vector<point>& centres) {
  clusters found{.of = {}, .squares = 0};
  for (const auto& x : xs) {
    std::size_t best = 0;
    for (std::size_t k = 1; k < centres.size(); ++k)
      if (squares_between(x, centres[k]) < squares_between(x, centres[best]))
        best = k;
    found.of.push_back(best);
    found.squares += squares_between(x, centres[best]);
  }
  return found;
}

/// Each centre becomes the mean of its points; one without any stays.
void recentre(std::vector<point>& centres, const std::vector<point>& xs,
              const clusters& now) {
  for (std::size_t k = 0; k < centres.size(); ++k) {
    point sum(centres[k].size(), 0.0);
    double count = 0;
    for (std::size_t i = 0; i < xs.size(); ++i)
      if (now.of[i] == k) {
        ++count;
        for (std::size_t j = 0; j < sum.size(); ++j)
          sum[j] += xs[i][j];
      }
    if (count == 0)
      continue;
    for (auto& x : sum)
      x /= count;
    centres[k] = std::move(sum);
  }
}

/// The best of ten starts from points that are drawn.
clusters k_means(const std::vector<point>& xs, std::size_t k,
                 std::uint64_t seed) {
  random_stream draws{derive_seed(seed, "k-means")};
  clusters best;
  for (int start = 0; start < 10; ++start) {
    auto centres = xs;
    draws.shuffle(centres);
    centres.resize(k);
    auto now = assigned(xs, centres);
    for (double before = 0; before != now.squares;) {
      before = now.squares;
      recentre(centres, xs, now);
      now = assigned(xs, centres);
    }
    if (now.squares < best.squares)
      best = std::move(now);
  }
  return best;
}

double mean_silhouette(const std::vector<point>& xs, const clusters& found,
                       std::size_t k) {
  double sum = 0;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    std::vector<double> far(k, 0.0);
    std::vector<double> count(k, 0.0);
    for (std::size_t j = 0; j < xs.size(); ++j)
      if (j != i) {
        far[found.of[j]] += std::sqrt(squares_between(xs[i], xs[j]));
        ++count[found.of[j]];
      }
    const auto own = found.of[i];
    if (count[own] == 0)
      continue;
    auto next = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < k; ++c)
      if (c != own && count[c] > 0)
        next = std::min(next, far[c] / count[c]);
    const auto within = far[own] / count[own];
    sum += (next - within) / std::max(next, within);
  }
  return sum / static_cast<double>(xs.size());
}

double silhouette_of(const models::combinations_partition& how,
                     std::uint64_t seed) {
  const auto data =
    models::make_modes({.dimension = 1, .train_rows = 500, .seed = seed});
  const auto parts = models::make_partition(
    data, {.how = how, .clients = 120, .held_out = 20, .seed = seed});
  if (!parts) {
    ADD_FAILURE() << parts.error().context;
    return 0;
  }
  const auto shares = label_shares(data, *parts);
  EXPECT_EQ(shares.size(), 100u);
  return mean_silhouette(shares, k_means(shares, 5, seed), 5);
}

} // namespace

TEST(ddome_labels, fall_into_no_clusters) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto mixed =
      silhouette_of({.kinds = 4, .anchors = 5, .rows = 400}, seed);
    // The same measure sees clusters where there are some.
    const auto apart = silhouette_of(
      {.kinds = 2, .rows = 400, .unseen = false, .groups = 5}, seed);
    RecordProperty("combinations of seed " + std::to_string(seed),
                   std::to_string(mixed));
    EXPECT_LT(mixed, 0.2) << seed;
    EXPECT_GT(apart, 0.7) << seed;
  }
}

} // namespace troupe::test::ddome_labels_test
